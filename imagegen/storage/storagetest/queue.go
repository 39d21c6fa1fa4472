package storagetest

import (
	"fmt"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// claimAll claims one record after the other and returns whose they are.
func (s *store) claimAll() (users []imagegen.UserID) {
	s.t.Helper()
	for rs := s.claim(1); len(rs) > 0; rs = s.claim(1) {
		s.is.Equal(len(rs), 1)
		users = append(users, rs[0].User)
	}
	return users
}

// Users are served in turn, and each user's records as they came.
func testClaimInTurn(s *store) {
	for n := range 4 {
		s.queue(n+1, of(alice))
	}
	s.queue(5, of(bob))
	s.queue(6, of(bob))
	s.queue(7, of(carol))
	rs := s.claim(100)
	s.is.Equal(len(rs), 7)
	for _, r := range rs {
		s.is.Equal(r.State, imagegen.StateProcessing)
		s.is.Equal(r.Attempt, 1)
		s.stands(r)
	}
	s.is.Equal(len(s.claim(100)), 0)
	rounds := [][]imagegen.UserID{{alice, bob, carol}, {alice, bob}, {alice}, {alice}} // in each, any order
	for _, want := range rounds {
		var got []imagegen.UserID
		for _, r := range rs[:len(want)] {
			got = append(got, r.User)
		}
		rs = rs[len(want):]
		slices.Sort(got)
		s.is.Equal(diff(want, got), "")
	}
	for u, first := range map[imagegen.UserID]int{alice: 1, bob: 5, carol: 7} {
		rs, _, err := s.Generations(s.t.Context(), u, imagegen.Query{Status: imagegen.StatusProcessing})
		s.is.NoErr(err)
		s.is.Equal(rs[len(rs)-1].ID, generationNo(first))
	}
}

// A new user is served next, however long another's backlog is, and once in each turn.
func testClaimBacklog(s *store) {
	for n := range 200 {
		s.queue(n+1, of(alice))
	}
	s.is.Equal(len(s.claim(50)), 50)
	for n := range 3 {
		s.queue(1000+n, of(bob))
	}
	s.queue(2000, of(carol))
	users := s.claimAll()
	s.is.Equal(len(users), 154)
	s.is.True(slices.Contains(users[:3], bob))
	s.is.True(slices.Contains(users[:3], carol))
	for n := 1; n <= 3; n++ {
		s.is.Equal(count(users[:1+2*n], bob), n) // in the n-th turn after, and not before
	}
}

func count(users []imagegen.UserID, u imagegen.UserID) (n int) {
	for _, v := range users {
		if v == u {
			n++
		}
	}
	return n
}

// Work that goes back goes ahead of its user's fresh work, and of nobody else's.
func testClaimRequeued(s *store) {
	s.queue(201, of(alice)) // of a clock that has been set back since
	s.queue(202, of(alice))
	begun := s.claim(2)
	s.queue(1, of(bob))
	for n := range 100 {
		s.queue(2+n, of(alice))
	}
	back := s.update(begun[1], imagegen.ReleaseChange{})
	s.is.Equal(back.Status(), imagegen.StatusProcessing)
	s.update(begun[0], imagegen.ReleaseChange{})
	ids := idsOf(s.claim(5))
	s.is.Equal(diff([]imagegen.GenerationID{generationNo(1), generationNo(201), generationNo(202), generationNo(2),
		generationNo(3)}, ids), "")
	got, err := s.Generation(s.t.Context(), begun[0].ID)
	s.is.NoErr(err)
	s.is.Equal(got.Attempt, 2)
}

// Work whose delay is over waits no longer for it, however much else is due.
func testClaimDelayed(s *store) {
	s.queue(1, of(alice))
	s.queue(2, of(bob))
	for _, r := range s.claim(2) {
		s.update(r, imagegen.ReleaseChange{Delay: time.Second})
	}
	for n := range 100 {
		s.queue(3+n, of(alice))
	}
	s.is.Equal(s.claim(1)[0].ID, generationNo(3)) // they are not due
	time.Sleep(time.Second)
	ids := idsOf(s.claim(2))
	slices.Sort(ids)
	s.is.Equal(diff([]imagegen.GenerationID{generationNo(1), generationNo(2)}, ids), "")
}

// Of very many that become due at once none is forgotten, and nobody waits for all of another's.
func testClaimManyDelayed(s *store) {
	const many = 600
	for n := range many {
		s.queue(n+1, of(alice))
	}
	s.queue(many+1, of(bob))
	for _, r := range s.claim(many + 1) {
		delay := time.Second
		if r.User == bob {
			delay++ // behind all the others
		}
		s.update(r, imagegen.ReleaseChange{Delay: delay})
	}
	time.Sleep(time.Minute)
	users := s.claimAll()
	s.is.Equal(len(users), many+1)
	s.is.True(slices.Contains(users[:10], bob))
}

// The user with the fewest slots comes first; among equals, the one who has waited longest.
func testClaimFewest(s *store) {
	type users = []imagegen.UserID
	type slots = map[imagegen.UserID]int
	claimed := func(want users, d imagegen.ClaimRequest) {
		s.t.Helper()
		d.Lease = aMinute
		rs, _, err := s.Claim(s.t.Context(), d)
		s.is.NoErr(err)
		var got users
		for _, r := range rs {
			got = append(got, r.User)
		}
		s.is.Equal(diff(want, got), "")
	}
	for n, u := range (users{alice, bob, carol}) {
		for m := range 6 {
			s.queue(10*n+m, of(u))
		}
	}
	claimed(users{carol, bob, carol, alice, bob, carol}, imagegen.ClaimRequest{Most: 6, Held: slots{alice: 2, bob: 1}})
	claimed(users{alice}, imagegen.ClaimRequest{Most: 1}) // who was served last is last
	claimed(users{bob, carol}, imagegen.ClaimRequest{Most: 9, Below: 1, Held: slots{alice: 1}})
	claimed(nil, imagegen.ClaimRequest{Most: 9, Below: 3, Held: slots{alice: 3, bob: 4, carol: 3}})
	claimed(users{alice, alice}, imagegen.ClaimRequest{Most: 9, Below: 3, Held: slots{alice: 1, bob: 4, carol: 3}})
	claimed(users{bob, carol, bob}, imagegen.ClaimRequest{Most: 3, Held: slots{alice: 9}})
}

// The members of one payer weigh as one user: whatever their number, another user gets half.
func testClaimByPayer(s *store) {
	ctx := s.t.Context()
	school := imagegen.UserID("school")
	s.is.NoErr(s.CreateUser(ctx, imagegen.User{ID: school, Name: "school"}))
	for n := range 30 {
		pupil := imagegen.UserID(fmt.Sprint("pupil", n))
		s.is.NoErr(s.CreateUser(ctx, imagegen.User{ID: pupil, Name: "school/" + string(pupil)}))
		s.is.NoErr(s.SetSponsor(ctx, pupil, school, imagegen.KeyLimits{}))
		s.queue(n, of(pupil), func(r *imagegen.Record) { r.Payer = school })
	}
	for n := range 6 {
		s.queue(100+n, of(alice))
	}
	queued, err := s.Queued(ctx, school)
	s.is.NoErr(err)
	s.is.Equal(queued, imagegen.QueueLength{All: 36, Own: 30})
	for range 3 {
		rs, _, err := s.Claim(ctx, imagegen.ClaimRequest{Most: 4, Lease: aMinute})
		s.is.NoErr(err)
		alices := 0
		for _, r := range rs {
			if r.Account() == alice {
				alices++
			}
		}
		s.is.Equal(alices, 2)
		s.is.Equal(len(rs), 4)
	}
}

// Many at once are handed out as one by one.
func testClaimMany(s *store) {
	queue := func(first int) {
		for n := range 40 {
			s.queue(first+n, of([]imagegen.UserID{alice, bob, carol, alice, bob, alice}[n%6]))
		}
	}
	claim := func(each int) (users []imagegen.UserID) {
		held := map[imagegen.UserID]int{alice: 1, bob: 3}
		for len(users) < 40 {
			rs, _, err := s.Claim(s.t.Context(), imagegen.ClaimRequest{Most: min(each, 40-len(users)), Lease: aMinute,
				Held: held})
			s.is.NoErr(err)
			s.is.True(len(rs) > 0)
			for _, r := range rs {
				users = append(users, r.User)
				held[r.User]++
			}
		}
		return users
	}
	queue(1)
	want := claim(1)
	for i, each := range []int{2, 3, 7, 40} {
		queue(100 * (i + 1))
		s.is.Equal(diff(want, claim(each)), "")
	}
}

// A user who comes back to the queue comes to its end: those who came meanwhile have waited longer.
func testClaimComingBack(s *store) {
	s.queue(1, of(alice))
	s.claim(1)
	s.queue(2, of(bob))
	s.queue(3, of(alice))
	s.is.Equal(diff([]imagegen.GenerationID{generationNo(2), generationNo(3)}, idsOf(s.claim(2))), "")
}

// Work for a model without places waits, however much of it there is, and holds up no other.
func testClaimPlaces(s *store) {
	const slow, fast = "slow", "fast"
	claimed := func(most int, places map[string]int) (ids []imagegen.GenerationID) {
		s.t.Helper()
		rs, _, err := s.Claim(s.t.Context(), imagegen.ClaimRequest{Most: most, Lease: aMinute, Places: places})
		s.is.NoErr(err)
		return idsOf(rs)
	}
	numbers := func(ns ...int) (ids []imagegen.GenerationID) {
		for _, n := range ns {
			ids = append(ids, generationNo(n))
		}
		return ids
	}
	for n := range 100 {
		s.queue(n+1, of(alice), ofModel(slow))
		s.queue(n+101, of(imagegen.UserID(fmt.Sprint("user", n))), ofModel(slow))
	}
	s.queue(301, of(bob), ofModel(slow))
	s.queue(302, of(bob), ofModel(fast))
	s.queue(303, of(alice), ofModel(fast))
	s.queue(304, of(alice), ofModel(fast))
	s.queue(305, of(carol), ofModel(fast))
	// of those who have waited longest
	s.is.Equal(diff(numbers(303, 302), claimed(2, map[string]int{slow: 0, fast: 9})), "")
	s.is.Equal(diff(numbers(305, 304), claimed(9, map[string]int{fast: 9})), "")
	s.is.Equal(diff(numbers(101), claimed(9, map[string]int{slow: 1, fast: 9})), "")
	s.is.Equal(len(claimed(9, map[string]int{slow: 0})), 0)
	s.queue(306, of(bob), ofModel("another"))
	s.is.Equal(len(claimed(9, map[string]int{})), 0) // what this claimant can do nothing of is left to others
	s.is.Equal(diff(numbers(306), claimed(9, map[string]int{"another": 9, "unheard of": 9})), "")
	s.queue(307, of("user1"), ofModel(fast)) // who comes with the turn that they have
	s.queue(308, of("user50"), ofModel(fast))
	s.is.Equal(diff(numbers(307), claimed(1, map[string]int{fast: 9})), "")
	s.is.Equal(diff(numbers(103, 308), claimed(2, map[string]int{slow: 1, fast: 1})), "") // nobody has been overtaken
	s.is.Equal(len(claimed(500, nil)), 199)
	s.is.Equal(len(claimed(500, nil)), 0)
}

// Work that has waited too long is found, whatever its user and model, and the turns of the rest stand.
func testClaimAge(s *store) {
	s.queue(4, of(carol))
	s.update(s.claim(1)[0], imagegen.ReleaseChange{Delay: aMinute})
	s.queue(2, of(alice), ofModel("a"))
	s.queue(1, of(bob), ofModel("b"))
	s.queue(3, of(bob), ofModel("b"))
	young := s.queue(10_000, of(alice), ofModel("a"))
	aged := func(most int) []imagegen.GenerationID {
		s.t.Helper()
		rs, err := s.ClaimAged(s.t.Context(), time.Since(epoch.Add(time.Hour)), most, aMinute)
		s.is.NoErr(err)
		for _, r := range rs {
			s.is.Equal(r.State, imagegen.StateProcessing)
		}
		return idsOf(rs)
	}
	s.is.Equal(diff([]imagegen.GenerationID{generationNo(1), generationNo(2)}, aged(2)), "")
	s.is.Equal(diff([]imagegen.GenerationID{generationNo(3)}, aged(2)), "")
	s.is.Equal(len(aged(2)), 0)
	s.is.Equal(diff([]imagegen.GenerationID{young.ID}, idsOf(s.claim(9))), "")
	s.is.Equal(len(s.claim(9)), 0)
}

// Work that was begun goes ahead of its user's fresh work, also of other models.
func testClaimRequeuedPlaces(s *store) {
	s.queue(1, of(alice), ofModel("b"))
	begun := s.claim(1)[0]
	s.queue(2, of(alice), ofModel("a"))
	s.queue(3, of(alice), ofModel("b"))
	s.update(begun, imagegen.ReleaseChange{})
	s.is.Equal(diff([]imagegen.GenerationID{generationNo(1), generationNo(2), generationNo(3)}, idsOf(s.claim(3))), "")
}

// Of many that claim at once, each gets records of its own.
func testClaimRace(s *store) {
	const records, callers = 150, 32
	for n := range records {
		s.queue(n+1, of([]imagegen.UserID{alice, bob, carol}[n%3]))
	}
	s.race(callers, records, func() ([]imagegen.Record, error) {
		rs, _, err := s.Claim(s.t.Context(), imagegen.ClaimRequest{Most: 3, Lease: aMinute})
		return rs, err
	})
}

// A delayed record cannot be claimed before its time; next tells when to come again.
func testDelays(s *store) {
	claim := func(want ...imagegen.GenerationID) time.Duration {
		s.t.Helper()
		rs, next, err := s.Claim(s.t.Context(), imagegen.ClaimRequest{Most: 10, Lease: aMinute})
		s.is.NoErr(err)
		s.is.Equal(diff(want, idsOf(rs)), "")
		return next
	}
	s.is.Equal(claim(), time.Duration(0)) // nothing is known
	for n := range 3 {
		s.queue(n + 1)
	}
	rs := s.claim(10)
	for n, delay := range []time.Duration{20 * time.Second, 5 * time.Second, 0} {
		s.update(rs[n], imagegen.ReleaseChange{Delay: delay})
	}
	s.is.Equal(claim(rs[2].ID), 5*time.Second)
	s.is.Equal(claim(), 5*time.Second)
	time.Sleep(5*time.Second - time.Millisecond)
	s.is.Equal(claim(), time.Millisecond)
	time.Sleep(time.Millisecond)
	s.is.Equal(claim(rs[1].ID), 15*time.Second)
	time.Sleep(time.Hour)
	s.is.Equal(claim(rs[0].ID), time.Duration(0))
	s.is.Equal(claim(), time.Duration(0))
}

// Queued counts what waits, also what is delayed. It may lag behind, but not for ever.
func testQueued(s *store) {
	queued := func(all int) {
		s.t.Helper()
		for u, want := range map[imagegen.UserID]imagegen.QueueLength{alice: {All: all, Own: all}, bob: {All: all}} {
			var got imagegen.QueueLength
			for range 60 {
				var err error
				got, err = s.Queued(s.t.Context(), u)
				s.is.NoErr(err)
				if got == want {
					break
				}
				time.Sleep(time.Second)
			}
			s.is.Equal(got, want)
		}
	}
	queued(0)
	s.create(1, async) // charging is not queued yet
	queued(0)
	s.queue(2)
	s.queue(3)
	s.queue(4)
	queued(3)
	rs := s.claim(2)
	queued(1)
	s.update(rs[0], imagegen.ReleaseChange{Delay: 24 * time.Hour})
	queued(2)
	s.update(rs[1], imagesOf(rs[1], 1))
	queued(2)
	s.queue(5, of(bob))
	got, err := s.Queued(s.t.Context(), bob)
	s.is.NoErr(err)
	s.is.Equal(got, imagegen.QueueLength{All: 3, Own: 1})
}

// A caller that asks for the channel first and claims then misses nothing.
func testWake(s *store) {
	woken := func(does string, f func()) {
		s.t.Helper()
		wake := s.Wake()
		f()
		select {
		case <-wake:
		case <-time.After(time.Minute):
			s.t.Errorf("%s does not wake", does)
		}
	}
	var r imagegen.Record
	woken("Accept", func() { r = s.queue(1) })
	r = s.claim(1)[0]
	woken("Release", func() { s.update(r, imagegen.ReleaseChange{}) })
	r = s.claim(1)[0]
	woken("Release with a delay", func() { s.update(r, imagegen.ReleaseChange{Delay: time.Second}) })

	wake := s.Wake()
	go s.Update(s.t.Context(), s.create(2, async).Fence(), imagegen.AcceptChange{})
	<-wake // also somebody who waits already
	time.Sleep(time.Minute)
}
