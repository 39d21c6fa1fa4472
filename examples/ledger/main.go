// Command ledger puts a billing system that is there already behind the service: here a table of
// accounts in the program's own memory. Three methods are all it takes.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"sync"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
)

// billing keeps one balance a user. A real one would run each method in a transaction of its
// database, with the charge's ID as the primary key.
type billing struct {
	mu       sync.Mutex
	balances map[imagegen.UserID]imagegen.Credits
	charges  map[imagegen.ChargeID]*charge
}

type charge struct {
	imagegen.Charge
	settled bool
	used    imagegen.Credits
}

var _ imagegen.Ledger = (*billing)(nil)

// Charge takes the credits, once for each ID.
func (b *billing) Charge(_ context.Context, c imagegen.Charge) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch former := b.charges[c.ID]; {
	case former != nil && former.settled:
		return imagegen.ErrChargeClosed
	case former != nil && !former.Charge.Same(c):
		return imagegen.ErrChargeConflict
	case former != nil:
		return nil
	case b.balances[c.User] < c.Credits:
		return imagegen.ErrInsufficientCredits
	}
	b.balances[c.User] -= c.Credits
	b.charges[c.ID] = &charge{Charge: c}
	return nil
}

// Settle keeps what was used and gives the rest back, once for each ID.
func (b *billing) Settle(_ context.Context, id imagegen.ChargeID, used imagegen.Credits) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.charges[id]
	switch {
	case c == nil && used == 0: // a mark that refuses a charge which comes late
		b.charges[id] = &charge{Charge: imagegen.Charge{ID: id}, settled: true}
		return nil
	case c == nil:
		return imagegen.ErrNotFound
	case used < 0 || used > c.Credits, c.settled && c.used != used:
		return imagegen.ErrChargeConflict
	case c.settled:
		return nil
	}
	c.settled, c.used = true, used
	b.balances[c.User] += c.Credits - used
	return nil
}

// Balance tells what a user can spend.
func (b *billing) Balance(_ context.Context, u imagegen.UserID) (imagegen.Balance, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return imagegen.Balance{Credits: b.balances[u]}, nil
}

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer) error {
	accounts := &billing{
		balances: map[imagegen.UserID]imagegen.Credits{"alice": 10},
		charges:  map[imagegen.ChargeID]*charge{},
	}
	engine, err := imagegen.New(imagegen.Config{
		Store:  memory.New(nil),
		Ledger: accounts,
		Models: []imagegen.Model{{ID: "fake-1", Provider: &provider.Fake{}, Credits: map[imagegen.Tier]imagegen.Credits{"1K": 1}}},
	})
	if err != nil {
		return err
	}
	if err := engine.Start(ctx); err != nil {
		return err
	}
	defer engine.Stop(ctx)
	for _, prompt := range []string{"a fox [fake:images=2]", "a fox [fake:fail]", "four foxes"} {
		_, err := engine.As("alice").Generate(ctx, imagegen.GenerateRequest{Model: "fake-1", Prompt: prompt, N: 4})
		failure, failed := errors.AsType[*imagegen.Error](err)
		if err != nil && !failed {
			return err
		}
		balance, err := engine.As("alice").Balance(ctx)
		if err != nil {
			return err
		}
		if failed {
			fmt.Fprintf(out, "%s: %s, balance %d\n", prompt, failure.Code, balance.Credits)
			continue
		}
		fmt.Fprintf(out, "%s: balance %d\n", prompt, balance.Credits)
	}
	return nil
}
