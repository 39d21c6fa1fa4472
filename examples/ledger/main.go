// Command ledger puts a billing system that is there already behind the service. It speaks HTTP, and a
// fifth of its answers are errors: the engine asks again, so that hardly a caller notices, and nobody pays for
// what did not come.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http/httptest"
	"os"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer) error {
	accounts := newBilling()
	accounts.balances["alice"], accounts.balances["mallory"] = 100, 100
	accounts.suspended["mallory"] = true
	server := httptest.NewServer(unreliable(accounts.handler(), rand.New(rand.NewPCG(1, 2))))
	defer server.Close()
	service, err := engine.New(engine.Config{
		Store:  memory.New(nil),
		Ledger: ledger{server.URL, server.Client()},
		Models: []engine.Model{{ID: "fake-1", Provider: &provider.Fake{},
			Credits: map[imagegen.Tier]imagegen.Credits{"1K": 1}}},
	})
	if err != nil {
		return err
	}
	if err := service.Start(); err != nil {
		return err
	}
	defer service.Stop(ctx)
	if err := work(ctx, out, service.As("alice")); err != nil {
		return err
	}
	_, err = service.As("mallory").Generate(ctx, fox("a fox"))
	fmt.Fprintln(out, "mallory:", err)
	strays, err := service.Reconcile(ctx)
	fmt.Fprintln(out, "charges that nobody accounts for:", len(strays))
	return err
}

// work asks for images again and again, and prints the results.
func work(ctx context.Context, out io.Writer, alice *engine.Session) error {
	const calls = 40
	var failed, noticed int
	for n := range calls {
		prompt := "a fox [fake:images=2]" // of the three that are asked for
		if n%4 == 0 {
			prompt = "a fox [fake:fail]"
		}
		switch _, err := alice.Generate(ctx, fox(prompt)); {
		case errors.Is(err, imagegen.ErrGenerationFailed):
			failed++
		case err != nil:
			noticed++
		}
	}
	balance, err := alice.Balance(ctx)
	fmt.Fprintf(out, "%d calls: %d failed as asked, %d noticed the billing system; balance %d\n", calls, failed,
		noticed, balance.Credits)
	return err
}

func fox(prompt string) imagegen.GenerateRequest {
	return imagegen.GenerateRequest{Model: "fake-1", Prompt: prompt, N: 3, Size: imagegen.Size{Width: 64, Height: 64}}
}
