package imagegen

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"
)

// One slot, a user with a backlog and two who come later: they are served in turn.
func TestSlotsServeUsersInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		s := newSlots(1)
		is.NoErr(s.acquire(t.Context(), "first", 0))
		var order []UserID
		want := func(u UserID, n int) {
			for range n {
				go func() {
					if s.acquire(context.Background(), u, 0) == nil {
						order = append(order, u)
						s.release()
					}
				}()
				synctest.Wait()
			}
		}
		want("greedy", 5)
		want("modest", 2)
		want("late", 1)
		s.release()
		synctest.Wait()
		if diff := cmp.Diff([]UserID{"greedy", "modest", "late", "greedy", "modest", "greedy", "greedy", "greedy"}, order); diff != "" {
			t.Error(diff)
		}
		is.Equal(s.free, 1)
		is.Equal(len(s.users), 0)
	})
}

func TestSlotsGiveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		s := newSlots(1)
		is.NoErr(s.acquire(t.Context(), "a", 0))

		began := time.Now()
		err := s.acquire(t.Context(), "b", 30*time.Second)
		is.True(errors.Is(err, ErrOverloaded))
		is.Equal(time.Since(began), 30*time.Second)

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		is.Equal(s.acquire(ctx, "b", 0), context.DeadlineExceeded)

		s.release()
		is.NoErr(s.acquire(t.Context(), "c", 0)) // nobody in the way
		s.release()
		is.Equal(s.free, 1)
		is.Equal(len(s.users), 0)
	})
}

// However callers come and go, no slot is lost and never more are out than there are.
func TestSlotsUnderChurn(t *testing.T) {
	is := is.New(t)
	s := newSlots(3)
	out := make(chan struct{}, 3)
	done := make(chan bool)
	for i := range 64 {
		go func() {
			ok := true
			for j := range 50 {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i*j%7)*time.Microsecond)
				if s.acquire(ctx, UserID(fmt.Sprint(i%5)), 0) == nil {
					select {
					case out <- struct{}{}:
						<-out
					default:
						ok = false
					}
					s.release()
				}
				cancel()
			}
			done <- ok
		}()
	}
	for range 64 {
		is.True(<-done) // never more than three at once
	}
	is.Equal(s.free, 3)
	is.Equal(len(s.waiting), 0)
}
