package ledger_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen"
)

// With nothing in between, charging n and settling k is charging k and settling k.
func TestChargeAndSettleLaw(t *testing.T) {
	for n := imagegen.Credits(1); n <= 30; n += 7 {
		for k := imagegen.Credits(0); k <= n; k++ {
			t.Run(fmt.Sprint(n, " ", k), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f, g := lotsOfAllKinds(t), lotsOfAllKinds(t)
					f.charge("c", "alice", n)
					f.settle("c", k)
					if k > 0 {
						g.charge("c", "alice", k)
						g.settle("c", k)
					}
					f.is.Equal(cmp.Diff(g.lots("alice"), f.lots("alice")), "")
					f.sound()
				})
			})
		}
	}
}

func lotsOfAllKinds(t *testing.T) *fixture {
	f := open(t)
	soon := time.Now().Add(time.Hour)
	for _, g := range []imagegen.Grant{{Credits: 5}, {Credits: 5, Promo: true}, {Credits: 5, Expires: soon},
		{Credits: 5, Priority: 10}, {Credits: 5, Expires: soon, Promo: true}, {Credits: 5}} {
		g.User = "alice"
		f.grant(g)
	}
	return f
}

// Credits are consumed in the documented order, and come back in the reverse of it.
func TestOrderOfConsumption(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t)
		now := time.Now()
		inOrder := []string{"priority 10", "soon", "later promo", "later", "never promo", "never old", "never new",
			"priority 100"}
		grants := map[string]imagegen.Grant{
			"never old": {}, "never new": {}, "never promo": {Promo: true}, "later": {Expires: now.Add(48 * time.Hour)},
			"later promo": {Expires: now.Add(48 * time.Hour), Promo: true}, "soon": {Expires: now.Add(time.Hour)},
			"priority 10": {Priority: 10}, "priority 100": {Priority: 100, Expires: now.Add(time.Minute), Promo: true},
		}
		for _, name := range []string{"priority 100", "never old", "later", "never promo", "priority 10", "soon",
			"later promo", "never new"} {
			g := grants[name]
			g.User, g.Credits, g.Ref = "alice", 1, name
			f.grant(g)
			time.Sleep(time.Second)
		}
		f.is.Equal(refs(f.lots("alice")), inOrder)
		f.charge("c", "alice", 5)
		f.settle("c", 2)
		f.is.Equal(refs(f.lots("alice")), inOrder[2:]) // the first two are spent
		f.sound()
	})
}

func refs(lots []imagegen.Lot) (names []string) {
	for _, l := range lots {
		names = append(names, l.Ref)
	}
	return names
}

// Lots granted at the same moment are consumed as they were granted, also the tenth and the second.
func TestOrderOfEqualLots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t)
		var names []string
		for i := range 300 {
			names = append(names, fmt.Sprint(i))
			f.grant(imagegen.Grant{User: "alice", Credits: 1, Ref: names[i]})
		}
		f.is.Equal(refs(f.lots("alice")), names)
	})
}
