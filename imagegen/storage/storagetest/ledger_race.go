package storagetest

import (
	"errors"
	"fmt"
	"sync"

	"github.com/imagegend/imagegend/imagegen"
)

const racers = 64

// together runs f in many goroutines and returns what they returned.
func together(n int, f func(i int) error) []error {
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { errs[i] = f(i) })
	}
	all.Wait()
	return errs
}

// Many charge at once for three times what there is: a third of them gets it.
func testChargeRace(l *ledger) {
	const each, price = 3, 5
	l.fund(alice, racers*each*price/3)
	taken := make([]int, racers)
	for i, err := range together(racers, func(i int) error {
		for n := range each {
			switch err := l.charge(imagegen.ChargeID(fmt.Sprint("c", i, "-", n)), alice, price); {
			case err == nil:
				taken[i]++
			case !errors.Is(err, imagegen.ErrInsufficientCredits):
				return err
			}
		}
		return nil
	}) {
		if err != nil {
			l.t.Fatalf("caller %d: %v", i, err)
		}
	}
	sum := 0
	for _, n := range taken {
		sum += n
	}
	l.is.Equal(sum, racers*each/3)
	l.has(alice, 0)
}

// Many make and settle the same charge: it is made and settled once.
func testSameChargeRace(l *ledger) {
	l.fund(alice, 100)
	for _, err := range together(racers, func(int) error { return l.charge("c", alice, 7) }) {
		l.is.NoErr(err)
	}
	l.has(alice, 93)
	for _, err := range together(racers, func(int) error { return l.settle("c", 3) }) {
		l.is.NoErr(err)
	}
	l.has(alice, 97)
}

// Of those who settle the same charge to different amounts, one wins.
func testSettleRace(l *ledger) {
	l.fund(alice, racers)
	l.is.NoErr(l.charge("c", alice, racers))
	winner := -1
	for i, err := range together(racers, func(i int) error { return l.settle("c", imagegen.Credits(i)) }) {
		switch {
		case err == nil && winner >= 0:
			l.t.Fatalf("settled to %d and to %d", winner, i)
		case err == nil:
			winner = i
		default:
			l.refused(err, imagegen.ErrChargeConflict)
		}
	}
	l.is.True(winner >= 0)
	l.has(alice, racers-imagegen.Credits(winner))
}

// A charge that races with its own voiding is gone in the end, whichever comes first.
func testVoidRace(l *ledger) {
	l.fund(alice, racers)
	for i, err := range together(2*racers, func(i int) error {
		id := imagegen.ChargeID(fmt.Sprint("c", i/2))
		if i%2 == 0 {
			return l.settle(id, 0)
		}
		if err := l.charge(id, alice, 1); !errors.Is(err, imagegen.ErrChargeClosed) {
			return err
		}
		return nil
	}) {
		if err != nil {
			l.t.Fatalf("caller %d: %v", i, err)
		}
	}
	l.has(alice, racers)
}
