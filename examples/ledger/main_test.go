package main

import (
	"context"
	"net/http/httptest"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/storagetest"
)

func Example() {
	main()
	// Output:
	// 40 calls: 10 failed as asked, 0 noticed the billing system; balance 40
	// mallory: chargeRefused: this account is suspended; write to billing@example.com
	// charges that nobody accounts for: 0
}

// Any ledger joins the suite like this.
func TestLedger(t *testing.T) {
	systems := map[imagegen.Ledger]*billing{}
	storagetest.Ledger(t, func(t *testing.T) imagegen.Ledger {
		b := newBilling()
		server := httptest.NewServer(b.handler())
		t.Cleanup(server.Close)
		l := ledger{server.URL, server.Client()}
		systems[l] = b
		return l
	}, func(_ context.Context, l imagegen.Ledger, u imagegen.UserID, c imagegen.Credits) error {
		b := systems[l]
		b.mu.Lock()
		defer b.mu.Unlock()
		b.balances[u] += c
		return nil
	})
}
