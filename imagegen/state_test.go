package imagegen_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

var states = []imagegen.State{imagegen.StateCharging, imagegen.StateQueued, imagegen.StateProcessing,
	imagegen.StateSettling, imagegen.StateSucceeded, imagegen.StateFailed, imagegen.StateErasing, imagegen.StateErased,
	imagegen.StateGone}

var (
	oneImage = imagegen.OutcomeChange{At: time.Unix(9, 0),
		Images: []imagegen.StoredImage{{ID: "image_00000000000000000000000001" + "00000000000000000000000001",
			Attempt: 4, MediaType: "image/png", Width: 1, Height: 1, Size: 1, CreatedAt: time.Unix(8, 0)}}}
	noImage = imagegen.OutcomeChange{Failure: &imagegen.Failure{Class: imagegen.ClassRefused}, At: time.Unix(9, 0)}
)

// recordIn is a sound record in its fourth attempt; from its outcome on it has an image, unless it failed.
func recordIn(s imagegen.State, async bool) imagegen.Record {
	r := imagegen.Record{Intent: imagegen.Intent{ID: "gen_00000000000000000000000001", User: "alice", Prompt: "a fox",
		Async: async, N: 2, Price: 3},
		Progress: imagegen.Progress{State: s, Attempt: 4}}
	switch s {
	case imagegen.StateSettling, imagegen.StateSucceeded, imagegen.StateErasing:
		r.Images, r.Published, r.CompletedAt = oneImage.Images, 1, oneImage.At
	case imagegen.StateErased:
		r.Published, r.CompletedAt = 1, oneImage.At
	case imagegen.StateFailed:
		r.Failure, r.CompletedAt = noImage.Failure, noImage.At
	}
	if s == imagegen.StateErasing || s == imagegen.StateErased {
		r.Prompt = ""
	}
	return r
}

// Every state meets every change. What the table does not name is not possible; once a generation
// has ended, it stays as it is.
func TestStateTable(t *testing.T) {
	type row struct {
		state  imagegen.State
		change string
	}
	const asynchronous = " (asynchronous)"
	want := map[row]imagegen.State{
		{imagegen.StateCharging, "Accept"}:                   imagegen.StateProcessing,
		{imagegen.StateCharging, "Accept" + asynchronous}:    imagegen.StateQueued,
		{imagegen.StateCharging, "Abandon"}:                  imagegen.StateGone,
		{imagegen.StateCharging, "Recover"}:                  imagegen.StateCharging,
		{imagegen.StateQueued, "Claim"}:                      imagegen.StateProcessing,
		{imagegen.StateProcessing, "Recover"}:                imagegen.StateProcessing,
		{imagegen.StateProcessing, "SaveJob"}:                imagegen.StateProcessing,
		{imagegen.StateProcessing, "Release" + asynchronous}: imagegen.StateQueued,
		{imagegen.StateProcessing, "Show"}:                   imagegen.StateProcessing,
		{imagegen.StateProcessing, "Outcome"}:                imagegen.StateSettling,
		{imagegen.StateQueued, "Cancel"}:                     imagegen.StateSettling,
		{imagegen.StateSettling, "Recover"}:                  imagegen.StateSettling,
		{imagegen.StateSettling, "Close"}:                    imagegen.StateSucceeded,
		{imagegen.StateCharging, "Dispute"}:                  imagegen.StateFailed,
		{imagegen.StateSettling, "Dispute"}:                  imagegen.StateSucceeded,
		{imagegen.StateSucceeded, "Favourite"}:               imagegen.StateSucceeded,
		{imagegen.StateSucceeded, "Erase"}:                   imagegen.StateErasing,
		{imagegen.StateFailed, "Erase"}:                      imagegen.StateErasing,
		{imagegen.StateFailed, "Forget"}:                     imagegen.StateFailed,
		{imagegen.StateErasing, "Recover"}:                   imagegen.StateErasing,
		{imagegen.StateErasing, "Purge"}:                     imagegen.StateErased,
	}
	repetitions := map[row]bool{
		{imagegen.StateQueued, "Accept"}: true, {imagegen.StateProcessing, "Accept"}: true,
		{imagegen.StateQueued, "Release"}: true, {imagegen.StateSettling, "Outcome"}: true,
		{imagegen.StateErasing, "Erase"}: true, {imagegen.StateErased, "Erase"}: true,
		{imagegen.StateErased, "Purge"}: true, {imagegen.StateErasing, "Forget"}: true,
		{imagegen.StateErased, "Forget"}: true, {imagegen.StateErasing, "Resolve"}: true,
		{imagegen.StateErased, "Resolve"}: true,
	}
	changes := map[string]imagegen.Change{
		"Accept": imagegen.AcceptChange{}, "Abandon": imagegen.AbandonChange{}, "Claim": imagegen.ClaimChange{},
		"Recover": imagegen.RecoverChange{}, "SaveJob": imagegen.SaveJobChange{Job: []byte("job")},
		"Release": imagegen.ReleaseChange{Delay: time.Second, Failed: true}, "Outcome": oneImage,
		"Show": imagegen.ShowChange{Images: oneImage.Images}, "Cancel": cancelled, "Close": imagegen.CloseChange{},
		"Erase": imagegen.EraseChange{}, "Purge": imagegen.PurgeChange{}, "Forget": imagegen.ForgetChange{},
		"Dispute": imagegen.DisputeChange{Detail: "no", At: time.Unix(9, 0)}, "Resolve": imagegen.ResolveChange{},
		"Favourite": imagegen.FavouriteChange{Favourite: true},
	}
	for _, s := range states {
		for name, c := range changes {
			for _, async := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/%v", s, name, async), func(t *testing.T) {
					is := is.New(t)
					r := recordIn(s, async)
					next, changed, err := r.Apply(4, c)
					to, possible := want[row{s, name}]
					if alt, ok := want[row{s, name + asynchronous}]; ok && async {
						to, possible = alt, true
					}
					switch {
					case possible:
						is.NoErr(err)
						is.True(changed)
						is.Equal(next.State, to)
					case repetitions[row{s, name}] || r.Terminal():
						is.NoErr(err)
						is.True(!changed)
					default:
						is.True(errors.Is(err, imagegen.ErrTransition))
					}
					if !changed {
						is.Equal(cmp.Diff(r, next), "")
					}
					_, changed, err = r.Apply(3, c)
					is.True(errors.Is(err, imagegen.ErrStale)) // an overtaken attempt
					is.True(!changed)
				})
			}
		}
	}
}

func TestApplyKeepsWhatTheChangeSays(t *testing.T) {
	is := is.New(t)
	apply := func(r imagegen.Record, c imagegen.Change) imagegen.Record {
		t.Helper()
		next, changed, err := r.Apply(r.Attempt, c)
		is.NoErr(err)
		is.True(changed)
		return next
	}
	r := apply(recordIn(imagegen.StateQueued, true), imagegen.ClaimChange{})
	is.Equal(r.Attempt, 5)
	r = apply(r, imagegen.SaveJobChange{Job: []byte("old job"), Upstreams: []string{"upstream"}})
	is.Equal(r.JobUpstreams, []string{"upstream"})
	r = apply(r, imagegen.SaveJobChange{Upstreams: []string{"upstream"}}) // a job that is over
	is.True(r.Job == nil && r.JobUpstreams == nil)
	r = apply(r, imagegen.SaveJobChange{Job: []byte("job")})
	is.Equal(string(r.Job), "job")
	r = apply(r, imagegen.ReleaseChange{Delay: time.Second, Failed: true})
	is.Equal(r.Delay, time.Second)
	is.Equal(r.Failures, 1)
	is.Equal(r.Status(), imagegen.StatusProcessing) // it never goes back to queued
	r = apply(apply(r, imagegen.ClaimChange{}), imagegen.ReleaseChange{})
	is.Equal(r.Failures, 1) // a drain uses up no try
	r = apply(r, imagegen.ClaimChange{})

	failed := apply(apply(r, noImage), imagegen.CloseChange{})
	is.Equal(failed.State, imagegen.StateFailed)
	is.Equal(failed.Used(), imagegen.Credits(0))
	is.Equal(failed.Job, nil)
	is.Equal(failed.Failure.Class, imagegen.ClassRefused)

	balance := &imagegen.Balance{Credits: 7}
	done := apply(apply(r, oneImage), imagegen.CloseChange{Balance: balance})
	is.Equal(done.Used(), imagegen.Credits(3))
	is.Equal(done.Charge().Credits, imagegen.Credits(6))
	is.Equal(done.Balance, balance)

	favourite := apply(done, imagegen.FavouriteChange{Favourite: true})
	is.True(favourite.Favourite && !apply(favourite, imagegen.FavouriteChange{}).Favourite)

	erased := apply(apply(favourite, imagegen.EraseChange{}), imagegen.PurgeChange{})
	is.True(!erased.Favourite)
	is.Equal(erased.Prompt, "")
	is.Equal(len(erased.Images), 0)
	is.Equal(erased.Used(), imagegen.Credits(3)) // the books still add up
	is.True(!erased.Visible())
}

var cancelled = imagegen.OutcomeChange{Cancelled: true, At: time.Unix(9, 0),
	Failure: &imagegen.Failure{Class: imagegen.ClassCancelled}}

// imageNo is an image of recordIn's.
func imageNo(n, attempt int) imagegen.StoredImage {
	i := oneImage.Images[0]
	i.ID, i.Attempt = imagegen.ImageID(fmt.Sprintf("image_00000000000000000000000001%026d", n)), attempt
	return i
}

// Shown images stay, over other attempts, and are in every outcome.
func TestShow(t *testing.T) {
	is := is.New(t)
	apply := func(r imagegen.Record, c imagegen.Change) imagegen.Record {
		t.Helper()
		next, changed, err := r.Apply(r.Attempt, c)
		is.NoErr(err)
		is.True(changed)
		return next
	}
	first, second := imageNo(1, 4), imageNo(2, 6)
	shown := apply(recordIn(imagegen.StateProcessing, true), imagegen.ShowChange{Images: []imagegen.StoredImage{first}})
	g := shown.Generation()
	is.Equal(g.Status, imagegen.StatusProcessing)
	is.Equal(g.Images[0].ID, first.ID)
	is.Equal(g.Credits, imagegen.Credits(0)) // until it is settled
	is.Equal(shown.Used(), imagegen.Credits(0))
	_, changed, err := shown.Apply(4, imagegen.ShowChange{Images: []imagegen.StoredImage{first}})
	is.NoErr(err)
	is.True(!changed) // a repetition

	for name, r := range map[string]imagegen.Record{
		"an outcome without it": apply(shown, noImage),
		"a later attempt": apply(apply(apply(apply(shown, imagegen.RecoverChange{}), imagegen.ReleaseChange{}),
			imagegen.ClaimChange{}), imagegen.OutcomeChange{At: time.Unix(9, 0)}),
		"cancelled": apply(apply(shown, imagegen.ReleaseChange{}), cancelled),
	} {
		if r.Published != 1 || r.Failure != nil || r.Images[0].ID != first.ID {
			t.Errorf("%s: %d images are published of one that was shown, failure %v", name, r.Published, r.Failure)
		}
		is.Equal(apply(r, imagegen.CloseChange{}).Used(), imagegen.Credits(3))
	}
	both := apply(apply(apply(apply(shown, imagegen.RecoverChange{}), imagegen.RecoverChange{}),
		imagegen.ShowChange{Images: []imagegen.StoredImage{second}}),
		imagegen.OutcomeChange{At: time.Unix(9, 0), Images: []imagegen.StoredImage{second, first}})
	is.Equal([]imagegen.ImageID{both.Images[0].ID, both.Images[1].ID}, []imagegen.ImageID{first.ID, second.ID})
	_, _, err = apply(apply(shown, imagegen.RecoverChange{}),
		imagegen.ShowChange{Images: []imagegen.StoredImage{imageNo(2, 5)}}).
		Apply(5, imagegen.ShowChange{Images: []imagegen.StoredImage{imageNo(3, 5)}})
	is.True(errors.Is(err, imagegen.ErrNotApplied)) // a Violation: more than were asked for
}

// Waiting work can be cancelled, and work of an upstream cannot.
func TestCancelled(t *testing.T) {
	is := is.New(t)
	r, _, err := recordIn(imagegen.StateQueued, true).Apply(4, cancelled)
	is.NoErr(err)
	r, _, err = r.Apply(4, imagegen.CloseChange{})
	is.NoErr(err)
	is.Equal(r.Used(), imagegen.Credits(0))
	is.Equal(r.Generation().Failure.Code, imagegen.CodeCancelled)
	resumed := recordIn(imagegen.StateQueued, true)
	resumed.Job = []byte("job")
	_, _, err = resumed.Apply(4, cancelled)
	is.True(errors.Is(err, imagegen.ErrTransition))
}

// A dispute changes nothing of what the owner sees, outlasts an erasure, and ends in one of two ways.
func TestDispute(t *testing.T) {
	apply := func(r imagegen.Record, c imagegen.Change) imagegen.Record {
		t.Helper()
		next, changed, err := r.Apply(r.Attempt, c)
		is.New(t).NoErr(err)
		is.New(t).True(changed)
		return next
	}
	is := is.New(t)
	settling := recordIn(imagegen.StateSettling, true)
	r := apply(settling, imagegen.DisputeChange{Detail: strings.Repeat("x", 2*imagegen.MaxDetail)})
	is.Equal(len(r.Dispute), imagegen.MaxDetail)
	is.Equal(cmp.Diff(apply(settling, imagegen.CloseChange{}).Generation(), r.Generation()), "")
	is.True(apply(settling, imagegen.DisputeChange{}).Dispute != "")

	failed := apply(recordIn(imagegen.StateCharging, true), imagegen.DisputeChange{At: time.Unix(7, 0)})
	is.Equal(failed.CompletedAt, time.Unix(7, 0))
	is.Equal(failed.Generation().Credits, imagegen.Credits(0))
	is.True(!apply(failed, imagegen.ResolveChange{Refund: true}).Refunded) // there was nothing to give back

	for _, r := range []imagegen.Record{r, apply(r, imagegen.EraseChange{}), apply(apply(r, imagegen.EraseChange{}),
		imagegen.PurgeChange{})} {
		is.Equal(r.Used(), imagegen.Credits(3))
		kept := apply(r, imagegen.ResolveChange{})
		is.Equal(kept.Dispute, "")
		is.Equal(kept.Used(), imagegen.Credits(3))
		back := apply(r, imagegen.ResolveChange{Refund: true})
		is.Equal(back.Dispute, "")
		is.Equal(back.Used(), imagegen.Credits(0))
	}
}

// A failed generation loses what was asked for, and nothing that its owner sees
// otherwise.
func TestForget(t *testing.T) {
	is := is.New(t)
	r := recordIn(imagegen.StateFailed, false)
	r.Fingerprint, r.JoinKey, r.IdempotencyKey = [32]byte{1}, [32]byte{2}, "k"
	r.References = []imagegen.ReferenceFile{{ID: "ref_1", MediaType: "image/png", Size: 70, SHA256: [32]byte{3}},
		{ID: "ref_2", Width: 9}}
	next, changed, err := r.Apply(4, imagegen.ForgetChange{})
	is.NoErr(err)
	is.True(changed)
	want := r
	want.Prompt, want.Fingerprint, want.JoinKey, want.IdempotencyKey = "", [32]byte{}, [32]byte{}, ""
	want.References = []imagegen.ReferenceFile{{ID: "ref_1"}, {ID: "ref_2"}}
	is.Equal(cmp.Diff(want, next), "")
	is.Equal(next.Generation().ReferenceCount, 2)
	_, changed, err = next.Apply(4, imagegen.ForgetChange{})
	is.NoErr(err)
	is.True(!changed)
	next, _, err = next.Apply(4, imagegen.EraseChange{})
	is.NoErr(err)
	is.Equal(len(next.References), 0)
}

// The hash of its idempotency key is all that an erased generation still has to forget.
func TestForgetWhatWasErased(t *testing.T) {
	is := is.New(t)
	r := recordIn(imagegen.StateSucceeded, false)
	r.IdempotencyKey = "k"
	erasing, _, err := r.Apply(4, imagegen.EraseChange{})
	is.NoErr(err)
	is.True(erasing.IdempotencyKey != "")
	_, changed, err := erasing.Apply(4, imagegen.ForgetChange{}) // it may be reserved yet
	is.NoErr(err)
	is.True(!changed)
	erased, _, err := erasing.Apply(4, imagegen.PurgeChange{})
	is.NoErr(err)
	next, changed, err := erased.Apply(4, imagegen.ForgetChange{})
	is.NoErr(err)
	is.True(changed)
	want := erased
	want.IdempotencyKey = ""
	is.Equal(cmp.Diff(want, next), "")
}

func TestReserves(t *testing.T) {
	is := is.New(t)
	r := recordIn(imagegen.StateProcessing, false)
	is.True(!r.HoldsIdempotencyKey(0)) // no key
	r.IdempotencyKey = "k"
	is.True(r.HoldsIdempotencyKey(1e9 * time.Second)) // as long as it runs
	r.State, r.CompletedAt = imagegen.StateSettling, time.Unix(1000, 0)
	is.True(r.HoldsIdempotencyKey(1e9 * time.Second)) // what came of it is known, and it has not ended
	r.State = imagegen.StateSucceeded
	is.True(r.HoldsIdempotencyKey(imagegen.IdempotencyKeyLifetime - 1))
	is.True(!r.HoldsIdempotencyKey(imagegen.IdempotencyKeyLifetime))
}
