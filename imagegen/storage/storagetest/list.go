package storagetest

import (
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// pages walks through a list and returns what it saw.
func (s *store) pages(u imagegen.UserID, q imagegen.Query) (all []imagegen.GenerationID) {
	s.t.Helper()
	for {
		rs, more, err := s.Generations(s.t.Context(), u, q)
		s.is.NoErr(err)
		for _, r := range rs {
			s.is.True(q.After == "" || r.ID < q.After)
		}
		s.is.True(len(rs) > 0 || len(all) == 0) // more meant it
		s.is.True(len(rs) == q.Limit || len(rs) < q.Limit && !more)
		all = append(all, idsOf(rs)...)
		if !more {
			return all
		}
		q.After = rs[len(rs)-1].ID
	}
}

// many brings records no. 1 to n to one state after the other and returns the visible ones of each
// status, and with status "" all, newest first.
func (s *store) many(n int) map[imagegen.Status][]imagegen.GenerationID {
	states := []imagegen.State{imagegen.StateQueued, imagegen.StateSucceeded, imagegen.StateCharging,
		imagegen.StateFailed, imagegen.StateProcessing, imagegen.StateErased, imagegen.StateSettling}
	of := map[imagegen.Status][]imagegen.GenerationID{}
	for i := range n {
		r := s.bring(i+1, states[i%len(states)])
		if status := r.Status(); status != "" {
			of[""] = append(of[""], r.ID)
			of[status] = append(of[status], r.ID)
		}
	}
	for _, ids := range of {
		slices.Reverse(ids)
	}
	return of
}

func testPages(s *store) {
	want := s.many(35)[""]
	for _, limit := range []int{1, 4, 5, len(want) - 1, len(want), imagegen.MaxPageSize} {
		s.is.Equal(diff(want, s.pages(alice, imagegen.Query{Limit: limit})), "")
	}
	rs, more, err := s.Generations(s.t.Context(), alice, imagegen.Query{})
	s.is.NoErr(err)
	s.is.Equal(diff(want[:imagegen.DefaultPageSize], idsOf(rs)), "")
	s.is.True(more)

	// A cursor need not name what is there: what was erased meanwhile does not break paging.
	s.is.Equal(diff(want, s.pages(alice, imagegen.Query{Limit: 9, After: generationNo(1000)})), "")
	s.is.Equal(len(s.pages(alice, imagegen.Query{Limit: 9, After: generationNo(0)})), 0)
	below := s.pages(alice, imagegen.Query{Limit: 9, After: generationNo(17)}) // charging: invisible
	s.is.Equal(diff(want[slices.Index(want, generationNo(16)):], below), "")
}

func testPagesByStatus(s *store) {
	want := s.many(35)
	for _, status := range imagegen.Statuses() {
		for _, limit := range []int{1, 2, 5, 10} {
			got := s.pages(alice, imagegen.Query{Limit: limit, Status: status})
			s.is.Equal(diff(want[status], got), "")
		}
	}
	s.is.Equal(len(s.pages(alice, imagegen.Query{Limit: 5, Status: "unheard-of"})), 0)
}

// testFavourites: they are listed by themselves, until they are none any more or are erased.
func testFavourites(s *store) {
	favourites := imagegen.Query{Limit: 2, Favourites: true}
	var want []imagegen.GenerationID
	for n := range 7 {
		r := s.bring(n, imagegen.StateSucceeded)
		if n%2 == 0 {
			r = s.update(r, imagegen.FavouriteChange{Favourite: true})
			s.stands(r)
			want = append([]imagegen.GenerationID{r.ID}, want...)
		}
	}
	s.update(s.bring(7, imagegen.StateSucceeded, of(bob)), imagegen.FavouriteChange{Favourite: true})
	s.is.Equal(diff(want, s.pages(alice, favourites)), "")
	s.is.Equal(len(s.pages(alice, imagegen.Query{Limit: 5})), 7)
	for status, n := range map[imagegen.Status]int{imagegen.StatusSucceeded: len(want), imagegen.StatusFailed: 0} {
		s.is.Equal(len(s.pages(alice, imagegen.Query{Limit: 2, Favourites: true, Status: status})), n)
	}

	r, err := s.Generation(s.t.Context(), want[0])
	s.is.NoErr(err)
	s.update(r, imagegen.FavouriteChange{})
	r, err = s.Generation(s.t.Context(), want[1])
	s.is.NoErr(err)
	s.update(r, imagegen.EraseChange{})
	s.is.Equal(diff(want[2:], s.pages(alice, favourites)), "")
}

func testOthersAreInvisible(s *store) {
	mine := s.bring(1, imagegen.StateSucceeded, withKey("k"))
	near := []imagegen.UserID{bob, "", "alic", "alice ", "alicea", "Alice", "alice\x00", "alice\x00\x01"}
	for _, u := range near {
		for _, status := range append(imagegen.Statuses(), "") {
			s.is.Equal(len(s.pages(u, imagegen.Query{Limit: 5, Status: status})), 0)
		}
		_, err := s.GenerationByIdempotencyKey(s.t.Context(), u, "k")
		s.is.True(err != nil)
	}
	theirs := s.bring(2, imagegen.StateSucceeded, of(bob))
	s.is.Equal(diff([]imagegen.GenerationID{mine.ID}, s.pages(alice, imagegen.Query{Limit: 5})), "")
	s.is.Equal(diff([]imagegen.GenerationID{theirs.ID}, s.pages(bob, imagegen.Query{Limit: 5})), "")
}

func testEnded(s *store) {
	of := s.many(35)
	want := append(slices.Clone(of[imagegen.StatusSucceeded]), of[imagegen.StatusFailed]...)
	slices.Sort(want) // oldest first
	list := func(by time.Time, n int) []imagegen.GenerationID {
		s.t.Helper()
		rs, err := s.Ended(s.t.Context(), time.Since(by), n)
		s.is.NoErr(err)
		return idsOf(rs)
	}
	after := epoch.Add(time.Hour)
	s.is.Equal(diff(want, list(after, 100)), "")
	s.is.Equal(diff(want[:3], list(after, 3)), "")
	s.is.Equal(len(list(after, 0)), 0)
	s.is.Equal(len(list(epoch, 100)), 0)
	fourth, err := s.Generation(s.t.Context(), want[3])
	s.is.NoErr(err)
	s.is.Equal(diff(want[:3], list(fourth.CompletedAt.Add(-900*time.Millisecond), 100)), "")
	s.is.Equal(diff(want[:4], list(fourth.CompletedAt, 100)), "")
}

// Work that took long holds up none that came later and ended sooner.
func testEndedBehindOthers(s *store) {
	const late = 150
	for n := range late {
		r := s.bring(n, imagegen.StateProcessing)
		o := refused(r)
		o.At = epoch.Add(24 * time.Hour)
		s.update(s.update(r, o), closed(r))
	}
	soon := s.bring(late, imagegen.StateFailed)
	rs, err := s.Ended(s.t.Context(), time.Since(epoch.Add(time.Hour)), 1)
	s.is.NoErr(err)
	s.is.Equal(diff([]imagegen.GenerationID{soon.ID}, idsOf(rs)), "")
}

// testForgettable: what failed is listed by its end, from the first on, until its prompt is forgotten.
func testForgettable(s *store) {
	const failed = 5
	var fences []imagegen.Fence
	for n := range failed { // whatever came last, ended first
		r := s.bring(n, imagegen.StateProcessing)
		o := refused(r)
		o.At = epoch.Add(time.Hour - time.Duration(n)*time.Minute)
		r = s.update(s.update(r, o), closed(r))
		fences = append([]imagegen.Fence{r.Fence()}, fences...)
	}
	s.bring(failed, imagegen.StateSucceeded)
	first := epoch.Add(time.Hour - (failed-1)*time.Minute)
	s.forgettable(imagegen.StateFailed, first.Add(-30*time.Second), 100)
	s.forgettable(imagegen.StateFailed, first.Add(30*time.Second), 100, fences[0])
	s.forgettable(imagegen.StateFailed, epoch.Add(2*time.Hour), 0)
	s.forgettable(imagegen.StateFailed, epoch.Add(2*time.Hour), 3, fences[:3]...)
	s.forgettable(imagegen.StateFailed, epoch.Add(2*time.Hour), 100, fences...)

	for range 2 { // the second time it is a repetition
		r, err := s.Update(s.t.Context(), fences[0], imagegen.ForgetChange{})
		s.is.NoErr(err)
		s.is.Equal(r.Prompt, "")
		s.stands(r)
	}
	_, err := s.Update(s.t.Context(), fences[1], imagegen.EraseChange{})
	s.is.NoErr(err)
	s.forgettable(imagegen.StateFailed, epoch.Add(2*time.Hour), 100, fences[2:]...)
}

func (s *store) forgettable(state imagegen.State, by time.Time, n int, want ...imagegen.Fence) {
	s.t.Helper()
	got, err := s.Forgettable(s.t.Context(), state, time.Since(by), n)
	s.is.NoErr(err)
	s.is.Equal(diff(want, got), "")
}
