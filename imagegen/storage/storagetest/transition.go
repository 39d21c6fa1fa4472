package storagetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

var changes = map[string]func(imagegen.Record) imagegen.Change{
	"Accept": accept, "Abandon": abandon, "Claim": claim, "Recover": recovery, "SaveJob": saveJob, "Release": release,
	"ReleaseAtOnce": requeue, "Show": show, "Cancel": cancelled, "Outcome": threeImages,
	"OutcomeWithoutImages": noImage, "Close": closed, "Undelivered": undelivered, "Delivery": unread,
	"Favourite": favourite, "Erase": erase, "Purge": purge, "Forget": forget,
}

// testTransitions meets every state with every change. What comes out is what [imagegen.Record.Apply]
// says, is what a reader then finds, and stands in the lists where it belongs.
func testTransitions(t *testing.T, open func(*testing.T) imagegen.Store) {
	for state := range steps {
		for name, change := range changes {
			t.Run(fmt.Sprintf("%s/%s", state, name), func(t *testing.T) {
				s := openStore(t, open)
				r := s.bring(1, state, withKey("k"), joinedBy(1))
				s.meets(r, change(r))
			})
		}
	}
}

// meets checks what a change does to a record, and that an overtaken attempt does nothing.
func (s *store) meets(r imagegen.Record, c imagegen.Change) {
	s.t.Helper()
	overtaken := imagegen.Fence{ID: r.ID, Attempt: r.Attempt - 1}
	got, err := s.Update(s.t.Context(), overtaken, c)
	s.is.True(errors.Is(err, imagegen.ErrStale))
	s.is.Equal(diff(r, got), "")
	s.stands(r)

	want, changed, wantErr := r.Apply(r.Attempt, c)
	if changed {
		s.putImages(r, c)
	}
	for range 2 { // the second time it is a repetition, for which the table has an answer too
		got, err = s.Update(s.t.Context(), r.Fence(), c)
		if kind(err) != kind(wantErr) {
			s.t.Fatalf("got error %v, want %v", err, wantErr)
		}
		if want.State == imagegen.StateGone {
			s.isGone(r)
			return
		}
		s.is.Equal(diff(want, got), "")
		s.stands(want)
		s.isListed(want)
		want, _, wantErr = want.Apply(r.Attempt, c)
	}
}

// kind is the error that stands for one of an Update.
func kind(err error) error {
	for _, k := range []error{imagegen.ErrStale, imagegen.ErrTransition} {
		if errors.Is(err, k) {
			return k
		}
	}
	return err
}

// isListed checks that a record, the only one, is in the lists where it belongs.
func (s *store) isListed(r imagegen.Record) {
	s.t.Helper()
	for _, status := range append(imagegen.Statuses(), "") {
		rs, more, err := s.Generations(s.t.Context(), r.User, imagegen.Query{Status: status})
		s.is.NoErr(err)
		s.is.True(!more)
		belongs := r.Visible() && (status == "" || status == r.Status())
		s.is.Equal(len(rs) == 1, belongs)
		if belongs {
			s.is.Equal(diff(r, rs[0]), "")
		}
	}
	s.is.Equal(len(s.pages(r.User, imagegen.Query{Limit: 1, Favourites: true})) == 1, r.Favourite)
	old, err := s.Ended(s.t.Context(), time.Since(r.CreatedAt.Add(time.Hour)), 10)
	s.is.NoErr(err)
	s.is.Equal(len(old) == 1, r.Terminal())
	for state, tells := range map[imagegen.State]bool{imagegen.StateFailed: r.Prompt != "",
		imagegen.StateErased: r.IdempotencyKey != ""} {
		listed, err := s.Forgettable(s.t.Context(), state, time.Since(r.CreatedAt.Add(time.Hour)), 10)
		s.is.NoErr(err)
		s.is.Equal(len(listed) == 1, r.State == state && tells)
	}
	held, err := s.GenerationByIdempotencyKey(s.t.Context(), r.User, "k")
	if r.IdempotencyKey == "" { // it was forgotten
		s.is.True(errors.Is(err, imagegen.ErrNotFound))
		return
	}
	s.is.NoErr(err)
	s.is.Equal(diff(r, held), "")
}

func (s *store) isGone(r imagegen.Record) {
	s.t.Helper()
	_, err := s.Generation(s.t.Context(), r.ID)
	s.is.True(errors.Is(err, imagegen.ErrNotFound))
	_, err = s.GenerationByIdempotencyKey(s.t.Context(), r.User, r.IdempotencyKey)
	s.is.True(errors.Is(err, imagegen.ErrNotFound))
	rs, _, err := s.Generations(s.t.Context(), r.User, imagegen.Query{})
	s.is.NoErr(err)
	s.is.Equal(len(rs), 0)
}

func testGone(s *store) {
	r := s.create(1, withKey("k"))
	got, err := s.Update(s.t.Context(), r.Fence(), imagegen.AbandonChange{})
	s.is.NoErr(err)
	s.is.Equal(got.State, imagegen.StateGone)
	s.isGone(r)
	got, err = s.Update(s.t.Context(), r.Fence(), imagegen.AbandonChange{})
	s.is.True(errors.Is(err, imagegen.ErrStale))
	s.is.Equal(diff(imagegen.Record{}, got), "")
	s.stands(s.create(1, withKey("k"))) // as if it had never been
}

func testUnknown(s *store) {
	ctx := s.t.Context()
	s.create(1)
	for _, id := range []imagegen.GenerationID{"", "gen", generationNo(2), "gen_\x00", generationNo(1) + "0"} {
		_, err := s.Generation(ctx, id)
		s.is.True(errors.Is(err, imagegen.ErrNotFound))
		got, err := s.Update(ctx, imagegen.Fence{ID: id}, imagegen.AcceptChange{})
		s.is.True(errors.Is(err, imagegen.ErrStale))
		s.is.Equal(diff(imagegen.Record{}, got), "")
	}
	for _, key := range []string{"", "k", "\x00"} {
		_, err := s.GenerationByIdempotencyKey(ctx, alice, key)
		s.is.True(errors.Is(err, imagegen.ErrNotFound))
	}
}

// Of two attempts that end together, one decides; nothing is mixed.
func testUpdateRace(s *store) {
	const callers = 16
	r := s.bring(1, imagegen.StateProcessing)
	outcomes := []imagegen.OutcomeChange{imagesOf(r, 3), refused(r)}
	s.putImages(r, outcomes[0])
	var (
		wg   sync.WaitGroup
		got  [callers]imagegen.Record
		errs [callers]error
	)
	for n := range callers {
		wg.Go(func() { got[n], errs[n] = s.Update(s.t.Context(), r.Fence(), outcomes[n%2]) })
	}
	wg.Wait()
	for n := range callers {
		s.is.NoErr(errs[n])
		s.is.Equal(diff(got[0], got[n]), "")
	}
	s.is.True((got[0].Failure == nil) == (got[0].Published == 3))
	s.stands(got[0])
}
