package storagetest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

func testCreate(s *store) {
	want := recordNo(1, withKey("k"))
	got, err := s.Create(s.t.Context(), want, aMinute)
	s.is.NoErr(err)
	s.is.Equal(diff(want, got), "")
	s.stands(want)
	held, err := s.GenerationByIdempotencyKey(s.t.Context(), alice, "k")
	s.is.NoErr(err)
	s.is.Equal(diff(want, held), "")
	rs, more, err := s.Generations(s.t.Context(), alice, imagegen.Query{})
	s.is.NoErr(err)
	s.is.Equal(len(rs), 0) // not charged yet: invisible
	s.is.True(!more)
}

// Repeating a Create whose outcome was unknown returns what stands, however far it has come.
func testCreateTwice(s *store) {
	n := 0
	for state := range steps {
		n++
		r := s.bring(n, state, withKey(string(state)))
		again, err := s.Create(s.t.Context(), recordNo(n, async, withKey(string(state))), aMinute)
		s.is.NoErr(err)
		s.is.Equal(diff(r, again), "")
		s.stands(r)
	}
}

func testCreateRefuses(s *store) {
	for name, r := range map[string]imagegen.Record{
		"no user":       recordNo(1, of("")),
		"NUL in user":   recordNo(1, of("a\x00b")),
		"no identifier": recordNo(1, func(r *imagegen.Record) { r.ID = "" }),
		"another state": recordNo(1, func(r *imagegen.Record) { r.State = imagegen.StateSucceeded }),
	} {
		_, err := s.Create(s.t.Context(), r, aMinute)
		if !errors.Is(err, imagegen.ErrInvalidRequest) {
			s.t.Errorf("%s: got error %v", name, err)
		}
	}
	_, err := s.Generation(s.t.Context(), generationNo(1))
	s.is.True(errors.Is(err, imagegen.ErrNotFound))
}

// A key is held while its record is open and for IdempotencyKeyLifetime after its end, per user.
func testReservation(s *store) {
	ctx := s.t.Context()
	taken := func(by imagegen.Record, n int) {
		s.t.Helper()
		_, err := s.Create(ctx, recordNo(n, withKey(by.IdempotencyKey), of(by.User)), aMinute)
		held, ok := errors.AsType[*imagegen.IdempotencyKeyTakenError](err)
		s.is.True(ok)
		s.is.True(imagegen.Definite(err))
		s.is.Equal(diff(by, held.Record), "")
		_, err = s.Generation(ctx, generationNo(n))
		s.is.True(errors.Is(err, imagegen.ErrNotFound))
	}

	first := s.create(1, async, withKey("k"))
	taken(first, 2)
	s.create(3, withKey("k"), of(bob)) // each user has keys of its own
	s.create(4, withKey("another"))
	s.create(5)
	s.create(6) // without a key
	for _, step := range []func(imagegen.Record) imagegen.Change{accept, claim,
		imagesAgo(imagegen.IdempotencyKeyLifetime - aMinute), closed} {
		first = s.update(first, step(first))
		taken(first, 2)
	}

	// The time is that of the commit, whenever the call arrived.
	first = s.endedAgo(10, imagegen.IdempotencyKeyLifetime, withKey("k"), of(carol))
	second := s.create(7, withKey("k"), of(carol))
	held, err := s.GenerationByIdempotencyKey(ctx, carol, "k")
	s.is.NoErr(err)
	s.is.Equal(diff(second, held), "")
	taken(second, 8)

	_, err = s.Update(ctx, second.Fence(), imagegen.AbandonChange{})
	s.is.NoErr(err)
	held, err = s.GenerationByIdempotencyKey(ctx, carol, "k")
	s.is.NoErr(err)
	s.is.Equal(diff(first, held), "") // as if the second had never been
	s.stands(s.create(9, withKey("k"), of(carol)))
}

// A charge that is refused leaves the idempotency key as it was: free, or with the record that had it
// last, though that reserves it no longer.
func testReservationAbandoned(s *store) {
	abandon := func(n int, change ...func(*imagegen.Record)) {
		s.t.Helper()
		_, err := s.Update(s.t.Context(), s.create(n, change...).Fence(), imagegen.AbandonChange{})
		s.is.NoErr(err)
	}
	abandon(1, withKey("k"))
	_, err := s.GenerationByIdempotencyKey(s.t.Context(), alice, "k")
	s.is.True(errors.Is(err, imagegen.ErrNotFound))

	first := s.endedAgo(2, imagegen.IdempotencyKeyLifetime, withKey("k"))
	for n := range 2 {
		abandon(3+n, withKey("k"))
		held, err := s.GenerationByIdempotencyKey(s.t.Context(), alice, "k")
		s.is.NoErr(err)
		s.is.Equal(diff(first, held), "")
	}
}

// A key that is lost with what was forgotten goes back to the last of those who had it before and have it still.
func testReservationForgotten(s *store) {
	first := s.bring(1, imagegen.StateSucceeded, withKey("k"))
	second := s.bring(2, imagegen.StateFailed, withKey("k"))
	third := s.bring(3, imagegen.StateFailed, withKey("k"))
	s.update(second, imagegen.ForgetChange{})
	s.update(third, imagegen.ForgetChange{})
	held, err := s.GenerationByIdempotencyKey(s.t.Context(), alice, "k")
	s.is.NoErr(err)
	s.is.Equal(diff(first, held), "")
}

// An erased record has its key as long as the key's hash is there, and goes before others that had it.
func testReservationErased(s *store) {
	last := func(want imagegen.Record) {
		s.t.Helper()
		held, err := s.GenerationByIdempotencyKey(s.t.Context(), alice, "k")
		s.is.NoErr(err)
		s.is.Equal(diff(want, held), "")
	}
	first := s.bring(1, imagegen.StateSucceeded, withKey("k"))
	second := s.bring(2, imagegen.StateErased, withKey("k"))
	last(second)
	third := s.bring(3, imagegen.StateFailed, withKey("k"))
	s.update(third, imagegen.ForgetChange{})
	last(second)
	s.forgettable(imagegen.StateErased, second.CompletedAt.Add(-time.Minute), 1)
	s.forgettable(imagegen.StateErased, second.CompletedAt, 1, second.Fence())
	for range 2 { // the second time it is a repetition
		r, err := s.Update(s.t.Context(), second.Fence(), imagegen.ForgetChange{})
		s.is.NoErr(err)
		s.is.Equal(r.IdempotencyKey, "")
		s.stands(r)
	}
	s.forgettable(imagegen.StateErased, second.CompletedAt, 1)
	last(first)
	s.update(first, imagegen.EraseChange{Aged: true})
	_, err := s.GenerationByIdempotencyKey(s.t.Context(), alice, "k")
	s.is.True(errors.Is(err, imagegen.ErrNotFound))
}

// Of several that race for a key, one gets it, and the others learn which.
func testReservationRace(s *store) {
	const rounds, callers = 16, 32 // two processes rarely meet within one round
	for round := range rounds {
		var (
			wg      sync.WaitGroup
			created atomic.Int32
			holders [callers]imagegen.GenerationID
		)
		for n := range callers {
			wg.Go(func() {
				r, err := s.Create(s.t.Context(), recordNo(round*callers+n+1, withKey(fmt.Sprint("k", round))), aMinute)
				if held, ok := errors.AsType[*imagegen.IdempotencyKeyTakenError](err); ok {
					r = held.Record
				} else if err == nil {
					created.Add(1)
				}
				holders[n] = r.ID
			})
		}
		wg.Wait()
		s.is.Equal(created.Load(), int32(1))
		for _, id := range holders {
			s.is.Equal(id, holders[0])
		}
	}
}

// The store keeps no memory of its callers, and what it returns is theirs.
func testIsolation(s *store) {
	scribble := func(r imagegen.Record) {
		for i := range r.References {
			r.References[i].MediaType = "scribble"
		}
		for i := range r.Images {
			r.Images[i].MediaType = "scribble"
		}
		for i := range r.Job {
			r.Job[i] = 'x'
		}
		clear(r.JobUpstreams)
		if r.Failure != nil {
			r.Failure.Detail = "scribble"
		}
		if r.Balance != nil {
			r.Balance.Credits, r.Balance.NextExpiration.Credits = -1, -1
		}
	}
	read := func(id imagegen.GenerationID) imagegen.Record {
		r, err := s.Generation(s.t.Context(), id)
		s.is.NoErr(err)
		return r
	}
	handedIn := recordNo(1, async)
	r, err := s.Create(s.t.Context(), handedIn, aMinute)
	s.is.NoErr(err)
	scribble(handedIn)
	for _, step := range []func(imagegen.Record) imagegen.Change{accept, claim, saveJob, show, threeImages, closed} {
		want := read(r.ID)
		scribble(r)
		scribble(read(r.ID))
		s.is.Equal(diff(want, read(r.ID)), "")
		change := step(want)
		r = s.update(want, change)
		scribbleChange(change)
	}
	want := read(r.ID)
	s.is.Equal(want.Balance.Credits, imagegen.Credits(7))
	s.is.Equal(want.Images[0].MediaType, "image/png")
	scribble(r)
	scribbleAll(s, scribble)
	s.is.Equal(diff(want, read(r.ID)), "")
}

func scribbleChange(c imagegen.Change) {
	switch c := c.(type) {
	case imagegen.SaveJobChange:
		clear(c.Job)
		clear(c.Upstreams)
	case imagegen.ShowChange:
		clear(c.Images)
	case imagegen.OutcomeChange:
		clear(c.Images)
	case imagegen.CloseChange:
		*c.Balance = imagegen.Balance{}
	}
}

// scribbleAll scribbles on what the lists hand out.
func scribbleAll(s *store, scribble func(imagegen.Record)) {
	page, _, err := s.Generations(s.t.Context(), alice, imagegen.Query{})
	s.is.NoErr(err)
	old, err := s.Ended(s.t.Context(), time.Since(epoch.Add(time.Hour)), 10)
	s.is.NoErr(err)
	s.is.Equal(len(page)+len(old), 2)
	for _, r := range append(page, old...) {
		scribble(r)
	}
}
