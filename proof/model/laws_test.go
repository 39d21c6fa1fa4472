package model_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/imagegend/imagegend/imagegen"
)

// alike draws the grants of somebody, and returns ledgers that were given them alike.
func alike(t *rapid.T, copies int) []*storeHandle {
	handles := make([]*storeHandle, copies)
	for n := range handles {
		handles[n] = inMemory(t, time.Now)
	}
	now := time.Now()
	for range rapid.IntRange(1, 8).Draw(t, "grants") {
		g := imagegen.Grant{User: "alice", Credits: imagegen.Credits(rapid.IntRange(1, 20).Draw(t, "credits")),
			Promo: pick(t, "promo", false, true), Priority: pick(t, "priority", 50, 1, 2)}
		if lives := pick(t, "lives", 0, time.Hour, 2*time.Hour); lives > 0 {
			g.Expires = now.Add(lives)
		}
		for _, h := range handles {
			if _, err := h.Grant(context.Background(), g); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(pick(t, "pause", 0, time.Minute))
	}
	return handles
}

// standing is all that a user sees of an account.
type standing struct {
	Balance imagegen.Balance
	Lots    []imagegen.Lot
	History []imagegen.Entry
}

func (h *storeHandle) standing(t *rapid.T) (s standing) {
	var errs [3]error
	s.Balance, errs[0] = h.Balance(context.Background(), "alice")
	s.Lots, errs[1] = h.Lots(context.Background(), "alice")
	s.History, errs[2] = h.History(context.Background(), "alice", 0, 1000)
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (h *storeHandle) spend(t *rapid.T, charged, used imagegen.Credits) {
	t.Helper()
	ctx := context.Background()
	if err := h.Charge(ctx, imagegen.Charge{ID: "c", User: "alice", Credits: charged}); err != nil {
		t.Fatal(err)
	}
	if err := h.Settle(ctx, "c", used); err != nil {
		t.Fatal(err)
	}
}

// amounts draws a charge that the account can pay, and how much of it is used.
func amounts(t *rapid.T, h *storeHandle) (charged, used imagegen.Credits) {
	b := h.standing(t).Balance
	charged = imagegen.Credits(rapid.Int64Range(1, int64(b.Credits)).Draw(t, "charged"))
	return charged, imagegen.Credits(rapid.Int64Range(0, int64(charged)).Draw(t, "used"))
}

// With nothing between, charging n and settling k leaves what charging k and settling k leaves, lot
// by lot; and with k = 0, what was there before.
func TestLawOfRefund(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rapid.SyncTest(t, func(t *rapid.T) {
			handles := alike(t, 2)
			charged, used := amounts(t, handles[0])
			handles[0].spend(t, charged, used)
			if used > 0 {
				handles[1].spend(t, used, used)
			}
			more, exact := handles[0].standing(t), handles[1].standing(t)
			more.History, exact.History = nil, nil // which tells how it came about
			if !cmp.Equal(exact, more) {
				t.Fatalf("%d of %d: %s", used, charged, cmp.Diff(exact, more))
			}
		})
	})
}

// A repeated operation changes nothing, be it repeated at once or in the end.
func TestLawOfRepetition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rapid.SyncTest(t, func(t *rapid.T) {
			h := alike(t, 1)[0]
			charged, used := amounts(t, h)
			ctx := context.Background()
			operations := []func() error{
				func() error {
					_, err := h.Grant(ctx, imagegen.Grant{User: "alice", Credits: 5, Ref: "g"})
					return err
				},
				func() error {
					_, err := h.Revoke(ctx, imagegen.Revocation{User: "alice", Credits: 3, Ref: "r"})
					return err
				},
				func() error { return h.Settle(ctx, "never", 0) },
				func() error { return h.Charge(ctx, imagegen.Charge{ID: "c", User: "alice", Credits: charged}) },
				func() error { return h.Settle(ctx, "c", used) },
			}
			const charge = 3
			for n, do := range operations {
				for again := range 3 {
					before := h.standing(t)
					if err := do(); err != nil {
						t.Fatalf("operation %d, time %d: %v", n, again, err)
					}
					if after := h.standing(t); again > 0 && !cmp.Equal(before, after) {
						t.Fatalf("operation %d, time %d: %s", n, again, cmp.Diff(before, after))
					}
				}
			}
			for n, do := range slices.Delete(operations, charge, charge+1) { // a charge is closed by now
				before := h.standing(t)
				if err := do(); err != nil || !cmp.Equal(before, h.standing(t)) {
					t.Fatalf("operation %d, in the end: %v %s", n, err, cmp.Diff(before, h.standing(t)))
				}
			}
		})
	})
}

// No credit is consumed while one that is to be consumed before it is left, and none comes back to a lot while one
// that was consumed after it stays spent.
func TestLawOfConsumption(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rapid.SyncTest(t, func(t *rapid.T) {
			h := alike(t, 1)[0]
			charged, used := amounts(t, h)
			ctx := context.Background()
			before := h.standing(t).Lots
			if err := h.Charge(ctx, imagegen.Charge{ID: "c", User: "alice", Credits: charged}); err != nil {
				t.Fatal(err)
			}
			h.inOrder(t, before, func(l imagegen.Lot) imagegen.Credits { return l.Held }, charged)
			if err := h.Settle(ctx, "c", used); err != nil {
				t.Fatal(err)
			}
			h.inOrder(t, before, func(l imagegen.Lot) imagegen.Credits { return l.Spent }, used)
		})
	})
}

// inOrder checks that credits came from the first lots in order, and from each all before the next.
func (h *storeHandle) inOrder(t *rapid.T, before []imagegen.Lot, gone func(imagegen.Lot) imagegen.Credits,
	sum imagegen.Credits) {
	t.Helper()
	now := map[string]imagegen.Lot{}
	for _, l := range h.standing(t).Lots {
		now[l.ID] = l
	}
	for n, l := range before {
		if n > 0 && consumedBefore(&l, &before[n-1]) {
			t.Fatalf("lot %+v is listed behind %+v", l, before[n-1])
		}
		took := min(sum, l.Granted)
		sum -= took
		left, there := now[l.ID]
		if there && gone(left) != took || !there && took != l.Granted {
			t.Fatalf("%d went from lot %d, %+v; it is now %+v", took, n, l, left)
		}
	}
}
