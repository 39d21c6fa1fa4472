package storagetest

import (
	"errors"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

func testFinishSettled(j *joint) {
	direct := j.createCharged(1, synchronous, costs(3, 2))
	o := imagesOf(direct, 2)
	o.AccountType = "PRO"
	done := j.finish(direct, o)
	j.is.Equal(done.State, imagegen.StateSucceeded)
	j.is.Equal(done.Published, 2)
	j.is.Equal(diff(&imagegen.Balance{Credits: 6, AccountType: "PRO"}, done.Balance), "")
	j.is.Equal(diff(o.Images, done.Images), "")
	j.stands(done)
	j.has(6)

	failed := j.finish(j.createCharged(2, synchronous, costs(3, 2)), refused(recordNo(2)))
	j.is.Equal(failed.State, imagegen.StateFailed)
	j.is.Equal(failed.Balance, nil)
	j.is.Equal(failed.Failure.Class, imagegen.ClassRefused)
	j.stands(failed)
	j.has(6)

	j.createCharged(3, async, costs(3, 2))
	claimed := j.claim(1)[0]
	queued := j.finish(claimed, imagesOf(claimed, 3))
	j.is.Equal(queued.State, imagegen.StateSucceeded)
	j.is.Equal(queued.Balance, nil) // the answer was given long ago
	j.has(0)

	soon := time.Now().Add(time.Hour).UTC().Truncate(time.Millisecond)
	_, err := j.books.Grant(j.t.Context(), imagegen.Grant{User: alice, Credits: 5, Expires: soon})
	j.is.NoErr(err)
	last := j.createCharged(4, synchronous, costs(2, 1))
	done = j.finish(last, imagesOf(last, 1))
	j.is.Equal(diff(&imagegen.Expiration{Credits: 4, At: soon}, done.Balance.NextExpiration), "")
}

func testFinishSettledTwice(j *joint) {
	r := j.createCharged(1, synchronous, costs(3, 2))
	o := imagesOf(r, 2)
	done := j.finish(r, o)
	j.createCharged(2, synchronous, costs(1, 1)) // the balance is that of the settlement, not of the repetition
	for _, again := range []imagegen.OutcomeChange{o, imagesOf(r, 3), refused(r)} {
		got, err := j.FinishSettled(j.t.Context(), r.Fence(), again)
		j.is.NoErr(err)
		j.is.Equal(diff(done, got), "")
		j.has(5)
	}
}

// An outcome that was recorded alone is settled and closed; another comes too late.
func testFinishSettling(j *joint) {
	r := j.createCharged(1, synchronous, costs(3, 2))
	r = j.update(r, imagesOf(r, 1))
	j.is.Equal(r.State, imagegen.StateSettling)
	got, err := j.FinishSettled(j.t.Context(), r.Fence(), imagesOf(r, 3))
	j.is.NoErr(err)
	j.is.Equal(got.State, imagegen.StateSucceeded)
	j.is.Equal(got.Published, 1)
	j.has(8)
}

func testFinishStale(j *joint) {
	r := j.createCharged(1, synchronous, costs(3, 2))
	now := j.update(r, imagegen.RecoverChange{})
	got, err := j.FinishSettled(j.t.Context(), r.Fence(), imagesOf(r, 3))
	j.is.True(errors.Is(err, imagegen.ErrStale))
	j.is.Equal(diff(now, got), "")
	j.stands(now)
	j.has(4)

	got, err = j.FinishSettled(j.t.Context(), imagegen.Fence{ID: generationNo(2)}, imagesOf(r, 3))
	j.is.True(errors.Is(err, imagegen.ErrStale))
	j.is.Equal(diff(imagegen.Record{}, got), "")

	queued := j.createCharged(3, async, costs(1, 1))
	_, err = j.FinishSettled(j.t.Context(), queued.Fence(), imagesOf(queued, 1))
	j.is.True(errors.Is(err, imagegen.ErrTransition))
	j.stands(queued)
	j.has(3)
}

// A record that was charged elsewhere cannot be settled here: it ends in dispute, and costs nothing here. What
// failed costs nothing anywhere.
func testFinishUncharged(j *joint) {
	r := j.update(j.create(1, synchronous), imagegen.AcceptChange{})
	done := j.finish(r, imagesOf(r, 3))
	j.is.Equal(done.State, imagegen.StateSucceeded)
	j.is.Equal(done.Published, 3)
	j.is.True(done.Dispute != "")
	j.stands(done)

	r = j.update(j.create(2, synchronous), imagegen.AcceptChange{})
	failed := j.finish(r, refused(r))
	j.is.Equal(failed.State, imagegen.StateFailed)
	j.is.Equal(failed.Dispute, "")
	j.has(10)
}

// A charge that was settled to another amount behind the generation's back is in dispute.
func testFinishSettledElsewhere(j *joint) {
	r := j.createCharged(1, synchronous, costs(3, 2))
	j.is.NoErr(j.books.Settle(j.t.Context(), r.Charge().ID, 4))
	done := j.finish(r, imagesOf(r, 3))
	j.is.Equal(done.State, imagegen.StateSucceeded)
	j.is.True(done.Dispute != "")
	j.has(6)
}

func testFinishRace(j *joint) {
	const callers = 16
	r := j.createCharged(1, synchronous, costs(3, 2))
	outcomes := []imagegen.OutcomeChange{imagesOf(r, 1), imagesOf(r, 3), refused(r)}
	j.putImages(r, outcomes[1])
	var (
		wg   sync.WaitGroup
		got  [callers]imagegen.Record
		errs [callers]error
	)
	for n := range callers {
		wg.Go(func() { got[n], errs[n] = j.FinishSettled(j.t.Context(), r.Fence(), outcomes[n%len(outcomes)]) })
	}
	wg.Wait()
	for n := range callers {
		j.is.NoErr(errs[n])
		j.is.Equal(diff(got[0], got[n]), "")
	}
	j.has(10 - got[0].Used())
}
