package main

import (
	"context"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/storagetest"
)

func Example() {
	main()
	// Output:
	// a fox [fake:images=2]: balance 8
	// a fox [fake:fail]: generationFailed, balance 8
	// four foxes: balance 4
}

// Any ledger joins the suite like this.
func TestLedger(t *testing.T) {
	storagetest.Ledger(t, func(*testing.T) imagegen.Ledger {
		return &billing{balances: map[imagegen.UserID]imagegen.Credits{}, charges: map[imagegen.ChargeID]*charge{}}
	}, func(_ context.Context, l imagegen.Ledger, u imagegen.UserID, c imagegen.Credits) error {
		b := l.(*billing)
		b.mu.Lock()
		defer b.mu.Unlock()
		b.balances[u] += c
		return nil
	})
}
