package schedule

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

// oneModel are slots where there is one model.
type oneModel struct{ *Slots }

func slotsOfOne(n int) oneModel { return oneModel{slotsOf(n, "m")} }

// slotsOf are slots where these models are offered.
func slotsOf(n int, models ...string) *Slots {
	s, most := NewSlots(n), make(map[string]int)
	for _, m := range models {
		most[m] = n
	}
	s.SetMost(most)
	return s
}

func (s oneModel) acquire(ctx context.Context, u imagegen.UserID, wait time.Duration) error {
	_, err := s.Slots.Acquire(ctx, u, "m", wait)
	return err
}

func (s oneModel) tryAcquire(u imagegen.UserID) bool {
	_, ok := s.Slots.TryAcquire(u, "m")
	return ok
}

func (s oneModel) join(u imagegen.UserID) *waiter { return s.Slots.join(u, "m") }
func (s oneModel) release(u imagegen.UserID)      { s.Slots.Release(Slot{user: u, model: "m"}, Finding{}) }

func (s oneModel) claimed(d imagegen.ClaimRequest, records []imagegen.Record) <-chan struct{} {
	for i := range records {
		records[i].Model = "m"
	}
	_, better := s.Slots.Claimed(d, records)
	return better
}

// One slot, a user with a backlog and two who come later: they are served in turn.
func TestSlotsServeUsersInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		s := slotsOfOne(1)
		is.NoErr(s.acquire(t.Context(), "first", time.Hour))
		var order []imagegen.UserID
		want := func(u imagegen.UserID, n int) {
			for range n {
				go func() {
					if s.acquire(context.Background(), u, time.Hour) == nil {
						order = append(order, u)
						s.release(u)
					}
				}()
				synctest.Wait()
			}
		}
		want("greedy", 5)
		want("modest", 2)
		want("late", 1)
		s.release("first")
		synctest.Wait()
		if diff := cmp.Diff([]imagegen.UserID{"greedy", "modest", "late", "greedy", "modest", "greedy", "greedy",
			"greedy"}, order); diff != "" {
			t.Error(diff)
		}
		idle(t, s, 1)
	})
}

func TestSlotsGiveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		s := slotsOfOne(1)
		is.NoErr(s.acquire(t.Context(), "a", time.Hour))

		began := time.Now()
		err := s.acquire(t.Context(), "b", 30*time.Second)
		is.True(errors.Is(err, imagegen.ErrOverloaded))
		is.Equal(time.Since(began), 30*time.Second)

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		is.Equal(s.acquire(ctx, "b", time.Hour), context.DeadlineExceeded)

		s.release("a")
		is.NoErr(s.acquire(t.Context(), "c", time.Hour)) // nobody in the way
		s.release("c")
		idle(t, s, 1)
	})
}

// No slot is lost while callers come and go, and never more are out than there are.
func TestSlotsUnderChurn(t *testing.T) {
	is := is.New(t)
	s := slotsOfOne(3)
	out := make(chan struct{}, 3)
	done := make(chan bool)
	for i := range 64 {
		go func() {
			ok := true
			for j := range 50 {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i*j%7)*time.Microsecond)
				u := imagegen.UserID(fmt.Sprint(i % 5))
				if s.acquire(ctx, u, time.Hour) == nil {
					select {
					case out <- struct{}{}:
						<-out
					default:
						ok = false
					}
					s.release(u)
				}
				cancel()
			}
			done <- ok
		}()
	}
	for range 64 {
		is.True(<-done) // never more than three at once
	}
	idle(t, s, 3)
}

// idle checks that nothing is held, and nobody remembered.
func idle(t *testing.T, s oneModel, free int) {
	t.Helper()
	is := is.New(t)
	is.Equal(s.free, free)
	lines := s.places("m").queues
	is.Equal(len(s.held)+lines.callers+len(lines.of)+len(lines.order)+s.places("m").bound.UnderWay(), 0)
}

// A slot that comes to somebody who has just given up goes to the next.
func TestSlotGivenUp(t *testing.T) {
	is := is.New(t)
	s := slotsOfOne(1)
	is.True(s.tryAcquire("a"))
	late, next := s.join("b"), s.join("c")
	s.release("a")
	<-late.ready
	is.Equal(s.giveUp(late, context.Canceled), context.Canceled)
	select {
	case <-next.ready:
	default:
		t.Fatal("the slot is free, and nobody was woken")
	}
	s.release("c")
	idle(t, s, 1)
}

// handed tells who has a slot by now.
func handed(waiting map[imagegen.UserID]*waiter) (users []imagegen.UserID) {
	for u, w := range waiting {
		select {
		case <-w.ready:
			users = append(users, u)
			delete(waiting, u)
		default:
		}
	}
	return users
}

// A slot that gets free goes to who holds fewest, however long others have waited.
func TestSlotsGoToWhoHoldsFewest(t *testing.T) {
	is := is.New(t)
	s := slotsOfOne(6)
	for range 3 {
		is.True(s.tryAcquire("three"))
	}
	for range 2 {
		is.True(s.tryAcquire("two"))
	}
	is.True(s.tryAcquire("one"))
	waiting := map[imagegen.UserID]*waiter{}
	for _, u := range []imagegen.UserID{"three", "two", "one", "none"} {
		waiting[u] = s.join(u)
	}
	var order []imagegen.UserID
	for _, done := range []imagegen.UserID{"three", "none", "two", "three"} {
		s.release(done)
		order = append(order, handed(waiting)...)
	}
	is.Equal(order, []imagegen.UserID{"none", "one", "two", "three"})
}

// Kept slots go to users who hold none, and to nobody else.
func TestKeptSlots(t *testing.T) {
	is := is.New(t)
	is.Equal([]int{Kept(1), Kept(2), Kept(15), Kept(16), Kept(40)}, []int{0, 1, 1, 2, 5})
	s := slotsOfOne(4)
	s.Keep(1)
	for range 3 {
		is.True(s.tryAcquire("greedy"))
	}
	is.True(!s.tryAcquire("greedy"))
	more := s.join("greedy")
	is.True(s.tryAcquire("modest") || s.join("modest").place == nil) // past a line that has to wait
	s.release("modest")
	is.Equal(len(handed(map[imagegen.UserID]*waiter{"greedy": more})), 0)
	s.release("greedy")
	is.Equal(len(handed(map[imagegen.UserID]*waiter{"greedy": more})), 1)
	s.Keep(0) // of which none is taken back
	is.True(s.tryAcquire("greedy"))
}

// The offer to the queue follows from who waits, and who holds what.
func TestOffers(t *testing.T) {
	for name, test := range map[string]struct {
		all, kept     int
		held, waiting []imagegen.UserID
		late          []imagegen.UserID // who wait since after the queue asked
		want          imagegen.ClaimRequest
	}{
		"all that is free": {all: 5, held: []imagegen.UserID{"a"}, want: imagegen.ClaimRequest{Most: 4,
			Held: map[imagegen.UserID]int{"a": 1}}},
		"no more than one claim takes": {all: 50, want: imagegen.ClaimRequest{Most: maxClaims}},
		"all but what is kept":         {all: 5, kept: 2, want: imagegen.ClaimRequest{Most: 3}},
		"what is kept, to who has none": {all: 3, kept: 2, held: []imagegen.UserID{"a"},
			want: imagegen.ClaimRequest{Most: 2, Below: 1, Held: map[imagegen.UserID]int{"a": 1}}},
		"to who holds fewer than who waits longer": {all: 3, held: []imagegen.UserID{"a", "a", "b"},
			waiting: []imagegen.UserID{"a"}, want: imagegen.ClaimRequest{Most: 1, Below: 1,
				Held: map[imagegen.UserID]int{"a": 1, "b": 1}}},
		"to who holds no more than who came later": {all: 3, held: []imagegen.UserID{"a", "a", "b"},
			late: []imagegen.UserID{"a"},
			want: imagegen.ClaimRequest{Most: 1, Below: 2,
				Held: map[imagegen.UserID]int{"a": 1, "b": 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is := is.New(t)
				s := slotsOfOne(test.all)
				for _, u := range test.held {
					is.True(s.tryAcquire(u))
				}
				s.Keep(test.kept)
				for _, u := range test.waiting {
					s.join(u)
				}
				got := make(chan imagegen.ClaimRequest, 1)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				go func() {
					d, _ := s.ForQueue(ctx)
					got <- d
				}()
				synctest.Wait()
				for _, u := range test.late {
					s.join(u)
				}
				if len(test.waiting)+len(test.late) > 0 {
					is.Equal(len(got), 0)
					s.release("a")
				}
				test.want.Places = map[string]int{"m": test.want.Most}
				if diff := cmp.Diff(test.want, <-got, cmpopts.EquateEmpty()); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// Callers and the queue take turns where both would have the same.
func TestQueueAndCallersTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		s := slotsOfOne(1)
		is.True(s.tryAcquire("first"))
		var order []imagegen.UserID
		for range 3 {
			go func() {
				if s.acquire(t.Context(), "caller", time.Hour) == nil {
					order = append(order, "caller")
					time.Sleep(time.Second)
					s.release("caller")
				}
			}()
		}
		synctest.Wait()
		go func() {
			for range 3 {
				d, err := s.ForQueue(t.Context())
				if err != nil {
					return
				}
				order = append(order, "queued")
				s.claimed(d, []imagegen.Record{{Intent: imagegen.Intent{User: "queued"}}})
				go func() {
					time.Sleep(time.Second)
					s.release("queued")
				}()
			}
		}()
		synctest.Wait()
		s.release("first")
		time.Sleep(time.Minute)
		synctest.Wait()
		is.Equal(order, []imagegen.UserID{"caller", "queued", "caller", "queued", "caller", "queued"})
		idle(t, s, 1)
	})
}

// A queue that could not use an offer is woken when there is a better one, and not before.
func TestBetterOffers(t *testing.T) {
	is := is.New(t)
	s := slotsOfOne(3)
	s.Keep(1)
	is.True(s.tryAcquire("a") && s.tryAcquire("b"))
	d, err := s.ForQueue(t.Context())
	is.NoErr(err)
	is.Equal(d.Below, 1)
	better := s.claimed(d, nil)
	is.True(!ready(better))
	s.release("a")
	is.True(ready(better))

	d, err = s.ForQueue(t.Context())
	is.NoErr(err)
	is.Equal(d.Below, 0)
	better = s.claimed(d, nil)
	s.release("b")
	is.True(!ready(better)) // that was for all
	is.True(s.tryAcquire("b"))
	s.SetMost(map[string]int{"m": 3, "new": 3})
	is.True(ready(better)) // but not for a model that was not offered

	is.True(s.tryAcquire("a"))
	d, err = s.ForQueue(t.Context())
	is.NoErr(err)
	is.Equal(d.Below, 1)
	s.release("a")
	is.True(ready(s.claimed(d, nil))) // it has become better meanwhile
}

// A queue that could use nothing of what is kept is called for the next slot that gets free, before callers who hold
// more; they get it if the queue cannot use it either.
func TestQueueIsNotOvertaken(t *testing.T) {
	is := is.New(t)
	s := slotsOfOne(5)
	s.Keep(1)
	for _, u := range []imagegen.UserID{"caller", "caller", "caller", "queued"} {
		is.True(s.tryAcquire(u))
	}
	waiting := map[imagegen.UserID]*waiter{"caller": s.join("caller")}
	d, err := s.ForQueue(t.Context())
	is.NoErr(err)
	is.Equal(d.Below, 1)
	better := s.claimed(d, nil)
	s.release("caller")
	is.True(ready(better))
	is.Equal(len(handed(waiting)), 0)
	d, err = s.ForQueue(t.Context())
	is.NoErr(err)
	is.Equal(d.Below, 2)
	s.claimed(d, nil)
	is.Equal(len(handed(waiting)), 1)
}

// An offer without a place for one of the models is bettered when that model gets one.
func TestBetterOfferForAFullModel(t *testing.T) {
	is := is.New(t)
	s := slotsOf(3, "m", "full")
	s.SetMost(map[string]int{"m": 3, "full": 1})
	had, ok := s.TryAcquire("a", "full")
	is.True(ok)
	d, err := s.ForQueue(t.Context())
	is.NoErr(err)
	is.Equal(cmp.Diff(map[string]int{"m": 2, "full": 0}, d.Places), "")
	is.Equal(d.Below, 0)
	_, better := s.Claimed(d, nil)
	is.True(!ready(better))
	s.Release(had, Finding{})
	is.True(ready(better))
}

// ready reports whether a channel was closed.
func ready(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// The queue gets places of what is offered now, and of nothing else.
func TestOfferNamesWhatIsOffered(t *testing.T) {
	is := is.New(t)
	s := slotsOf(3, "dropped", "kept")
	s.SetMost(map[string]int{"kept": 1, "new": 9})
	_, known := s.TryAcquire("a", "unknown")
	is.True(known)
	d, err := s.ForQueue(t.Context())
	is.NoErr(err)
	is.Equal(cmp.Diff(map[string]int{"kept": 1, "new": 2}, d.Places), "")
	free, _ := s.State()
	is.Equal(free, 2) // as long as the queue has found no work for them
}
