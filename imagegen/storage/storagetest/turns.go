package storagetest

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

// Currency tests that stores on the same data, which is empty, keep the currency of costs for each other.
func Currency(t *testing.T, one, other imagegen.TotalsKeeper) {
	t.Helper()
	is := is.New(t)
	for _, step := range []struct {
		of      imagegen.TotalsKeeper
		code    string
		replace bool
		want    string
	}{{one, "EUR", false, "EUR"}, {other, "USD", false, "EUR"}, {other, "CHF", true, "CHF"}, {one, "USD", false,
		"CHF"}} {
		noted, err := step.of.Currency(t.Context(), step.code, step.replace)
		is.NoErr(err)
		is.Equal(noted, step.want)
	}
}

// Turns tests an [imagegen.TurnTaker] over two handles to one storage, as two processes that
// share it have them. open returns handles to a new, empty storage; now is the clock of both.
func Turns(t *testing.T, open func(t *testing.T, now func() time.Time) (one, other imagegen.TurnTaker)) {
	t.Helper()
	is := is.New(t)
	clock := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	one, other := open(t, func() time.Time { return clock })
	turn := func(in imagegen.TurnTaker, duty string) bool {
		t.Helper()
		mine, err := in.Turn(t.Context(), duty, time.Hour)
		is.NoErr(err)
		return mine
	}
	is.True(turn(one, "sweep"))
	is.True(turn(other, "other")) // duties have turns of their own
	clock = clock.Add(time.Hour - time.Second)
	is.True(!turn(other, "sweep")) // its time has not come
	is.True(!turn(one, "sweep"))   // not even for the one that had it
	clock = clock.Add(time.Second)
	is.True(turn(other, "sweep")) // the time counts from the start of the turn
	is.True(!turn(one, "sweep"))
	clock = clock.AddDate(-1, 0, 0) // it ran fast
	is.True(turn(one, "sweep"))     // a turn of the fast clock's holds nobody up until then
	is.True(!turn(other, "sweep"))
}
