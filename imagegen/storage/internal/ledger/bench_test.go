package ledger_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv/kvtest"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger/ledgerkv"
)

// withLots is a ledger in which alice has many lots.
func withLots(b *testing.B, lots int) *ledger.Ledger {
	l, err := ledgerkv.New(kvtest.New(), time.Now)
	if err != nil {
		b.Fatal(err)
	}
	soon := time.Now().Add(time.Hour)
	for i := range lots {
		g := imagegen.Grant{User: "alice", Credits: 1e9, Expires: soon.Add(time.Duration(i) * time.Second)}
		if _, err := l.Grant(b.Context(), g); err != nil {
			b.Fatal(err)
		}
	}
	return l
}

func BenchmarkChargeAndSettle(b *testing.B) {
	for _, lots := range []int{1, 100_000} {
		b.Run(fmt.Sprint(lots, " lots"), func(b *testing.B) {
			l := withLots(b, lots)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				c := imagegen.Charge{ID: imagegen.ChargeID(fmt.Sprintf("gen_%026d", i)), User: "alice", Credits: 4}
				if l.Charge(b.Context(), c) != nil || l.Settle(b.Context(), c.ID, 2) != nil {
					b.Fatal("refused")
				}
			}
		})
	}
}

func BenchmarkBalance(b *testing.B) {
	for _, lots := range []int{1, 100_000} {
		b.Run(fmt.Sprint(lots, " lots"), func(b *testing.B) {
			l := withLots(b, lots)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := l.Balance(b.Context(), "alice"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkHoldings(b *testing.B) {
	for _, lots := range []int{1, 100_000} {
		b.Run(fmt.Sprint(lots, " lots"), func(b *testing.B) {
			l := withLots(b, lots)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := l.Holdings(b.Context(), "alice", 50); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
