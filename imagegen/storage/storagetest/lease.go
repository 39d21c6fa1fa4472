package storagetest

import (
	"cmp"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// recover recovers up to ten records.
func (s *store) recover(lease time.Duration) []imagegen.Record {
	s.t.Helper()
	rs, err := s.Recover(s.t.Context(), 10, lease)
	s.is.NoErr(err)
	return rs
}

// A lease keeps others away until it ends; then a fresh attempt shuts out the former.
func testLeases(s *store) {
	created := s.create(1)
	s.queue(2)
	claimed := s.claim(1)[0]
	time.Sleep(aMinute - time.Millisecond)
	s.is.Equal(len(s.recover(aMinute)), 0)
	time.Sleep(time.Millisecond)
	rs := s.recover(time.Hour)
	slices.SortFunc(rs, func(a, b imagegen.Record) int { return a.Attempt - b.Attempt })
	s.is.Equal(len(rs), 2)
	for n, former := range []imagegen.Record{created, claimed} {
		r := rs[n]
		s.is.Equal(r.ID, former.ID)
		s.is.Equal(r.State, former.State)
		s.is.Equal(r.Attempt, former.Attempt+1)
		s.stands(r)
		got, err := s.Update(s.t.Context(), former.Fence(), imagegen.AcceptChange{})
		s.is.True(errors.Is(err, imagegen.ErrStale))
		s.is.Equal(diff(r, got), "")
	}
	time.Sleep(time.Hour - time.Millisecond)
	s.is.Equal(len(s.recover(aMinute)), 0)
	time.Sleep(time.Millisecond)
	s.is.Equal(len(s.recover(aMinute)), 2)
}

// Everything that runs is recovered some day, and nothing else is.
func testLeasesOfAllStates(s *store) {
	n, running := 0, 0
	for state := range steps {
		n++
		if s.bring(n, state).Running() {
			running++
		}
	}
	s.is.Equal(len(s.recover(aMinute)), 0)
	time.Sleep(time.Hour)
	rs := s.recover(aMinute)
	s.is.Equal(len(rs), running)
	for _, r := range rs {
		s.is.True(r.Running())
	}
	_, err := s.Recover(s.t.Context(), 0, aMinute)
	s.is.NoErr(err)
	time.Sleep(aMinute)
	first, err := s.Recover(s.t.Context(), 1, aMinute)
	s.is.NoErr(err)
	s.is.Equal(len(first), 1)
	s.is.Equal(len(s.recover(aMinute)), running-1)
}

// What was recovered, and abandoned again, waits behind what was not recovered yet.
func testRecoverInTurn(s *store) {
	for n := range 3 {
		s.create(n+1, synchronous)
	}
	for _, want := range [][]int{{1, 2}, {1, 3}, {1, 2}} {
		time.Sleep(aMinute)
		rs, err := s.Recover(s.t.Context(), 2, aMinute)
		s.is.NoErr(err)
		s.is.Equal(diff([]imagegen.GenerationID{generationNo(want[0]), generationNo(want[1])},
			slices.Sorted(slices.Values(idsOf(rs)))), "")
	}
}

// Writes of an attempt do not shorten its lease.
func testLeaseOutlastsUpdates(s *store) {
	r, err := s.Create(s.t.Context(), recordNo(1, synchronous), time.Hour)
	s.is.NoErr(err)
	r = s.update(r, imagegen.AcceptChange{})
	r = s.update(r, saveJob(r))
	s.update(r, imagesOf(r, 0))
	time.Sleep(time.Hour - time.Millisecond)
	s.is.Equal(len(s.recover(aMinute)), 0)
	time.Sleep(time.Hour)
	s.is.Equal(len(s.recover(aMinute)), 1)
}

func testRecoverRace(s *store) {
	const records, callers = 40, 16
	for n := range records {
		s.create(n + 1)
	}
	time.Sleep(aMinute)
	s.race(callers, records, func() ([]imagegen.Record, error) { return s.Recover(s.t.Context(), 4, aMinute) })
}

// race has callers take records at once until there are no more, and checks that each of so many was taken once.
func (s *store) race(callers, records int, take func() ([]imagegen.Record, error)) {
	s.t.Helper()
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		seen = map[imagegen.GenerationID]int{}
		errs []error
	)
	for range callers {
		wg.Go(func() {
			for {
				rs, err := take()
				mu.Lock()
				if err != nil {
					errs = append(errs, err)
				}
				for _, r := range rs {
					seen[r.ID]++
				}
				mu.Unlock()
				if len(rs) == 0 {
					return
				}
			}
		})
	}
	wg.Wait()
	s.is.Equal(len(errs), 0)
	s.is.Equal(len(seen), records)
	for _, times := range seen {
		s.is.Equal(times, 1)
	}
}

func testExtend(s *store) {
	kept, left := s.create(1), s.create(2)
	for range 5 {
		time.Sleep(aMinute - time.Second)
		lost, err := s.Extend(s.t.Context(), aMinute, kept.Fence())
		s.is.NoErr(err)
		s.is.Equal(len(lost), 0)
	}
	s.is.Equal(diff([]imagegen.GenerationID{left.ID}, idsOf(s.recover(time.Hour))), "")
	time.Sleep(aMinute)
	s.is.Equal(diff([]imagegen.GenerationID{kept.ID}, idsOf(s.recover(aMinute))), "")

	lost, err := s.Extend(s.t.Context(), aMinute)
	s.is.NoErr(err)
	s.is.Equal(len(lost), 0)
}

// Extend names the attempts whose record has gone on without them.
func testExtendLost(s *store) {
	var lost, held []imagegen.Fence
	n := 0
	for state := range steps {
		n++
		r := s.bring(n, state)
		if r.Running() {
			held = append(held, r.Fence())
		} else {
			lost = append(lost, r.Fence())
		}
		lost = append(lost, imagegen.Fence{ID: r.ID, Attempt: r.Attempt + 1})
	}
	overtaken := s.create(100)
	lost = append(lost, overtaken.Fence(), imagegen.Fence{ID: generationNo(101)})
	held = append(held, s.update(overtaken, imagegen.RecoverChange{}).Fence())
	got, err := s.Extend(s.t.Context(), aMinute, append(slices.Clone(held), lost...)...)
	s.is.NoErr(err)
	s.is.Equal(diff(sorted(lost), sorted(got)), "")
}

// An attempt that has lost its record does not prolong the lease of the one that has it.
func testExtendOfAnother(s *store) {
	former := s.create(1)
	time.Sleep(aMinute)
	now := s.recover(aMinute)
	s.is.Equal(len(now), 1)
	lost, err := s.Extend(s.t.Context(), time.Hour, former.Fence(), imagegen.Fence{ID: former.ID,
		Attempt: now[0].Attempt + 1})
	s.is.NoErr(err)
	s.is.Equal(len(lost), 2)
	time.Sleep(aMinute)
	s.is.Equal(len(s.recover(aMinute)), 1)
}

func sorted(fs []imagegen.Fence) []imagegen.Fence {
	return slices.SortedFunc(slices.Values(fs), func(a, b imagegen.Fence) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), a.Attempt-b.Attempt)
	})
}
