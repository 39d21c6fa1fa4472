// Command cassette shows a program whose tests need no upstream. It makes pictures for a menu; its test answers the
// calls from testdata/menu, which was recorded with:
//
//	go test ./examples/cassette -record
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
)

// upstream is the real provider. A program of yours has openai.New there, or another; only a recording needs its key.
func upstream() imagegen.Provider { return &provider.Fake{} }

func main() {
	if err := illustrate(context.Background(), upstream(), os.Stdout, "soup", "salad"); err != nil {
		log.Fatal(err)
	}
}

// illustrate makes a picture of each dish. It takes the provider as an argument, so that a test can bring its own.
func illustrate(ctx context.Context, p imagegen.Provider, out io.Writer, dishes ...string) error {
	db := memory.New(nil)
	service, err := engine.New(engine.Config{Store: db, Ledger: db, Models: []engine.Model{
		{ID: "menu-1", Provider: p, Credits: map[imagegen.Tier]imagegen.Credits{imagegen.Tier1K: 1}}}})
	if err != nil {
		return err
	}
	if err := service.Start(); err != nil {
		return err
	}
	defer service.Stop(ctx)
	if _, err := db.Grant(ctx, imagegen.Grant{User: "cook", Credits: 10}); err != nil {
		return err
	}
	for _, dish := range dishes {
		made, err := service.As("cook").Generate(ctx, imagegen.GenerateRequest{Model: "menu-1",
			Prompt: "a bowl of " + dish, Size: imagegen.Size{Width: 96, Height: 64}})
		if err != nil {
			return fmt.Errorf("%s: %w", dish, err)
		}
		fmt.Fprintf(out, "%s: %d×%d, %d credits left\n", dish, made.Images[0].Width, made.Images[0].Height,
			made.Balance.Credits)
	}
	return nil
}
