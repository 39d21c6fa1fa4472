// Command embed runs the service inside a program: it opens a store, grants a user credits, has two
// images made and saves them.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/storage"
)

func main() {
	dir, err := os.MkdirTemp("", "embed")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := run(context.Background(), dir, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, dir string, out io.Writer) error {
	db, err := storage.Open(filepath.Join(dir, "data"), nil)
	if err != nil {
		return err
	}
	defer db.Close()
	service, err := engine.New(engine.Config{
		Store:  db,
		Ledger: db,
		Models: []engine.Model{{
			ID:       "fake-1",
			Provider: &provider.Fake{},
			Credits:  map[imagegen.Tier]imagegen.Credits{"1K": 1, "2K": 2, "4K": 4},
		}},
	})
	if err != nil {
		return err
	}
	if err := service.Start(); err != nil {
		return err
	}
	defer service.Stop(ctx)

	// A reference makes the grant safe to repeat: it counts once.
	if _, err := db.Grant(ctx, imagegen.Grant{User: "alice", Credits: 100, Ref: "welcome-alice"}); err != nil {
		return err
	}
	alice := service.As("alice")
	result, err := alice.Generate(ctx, imagegen.GenerateRequest{Model: "fake-1", Prompt: "a fox in the snow", N: 2})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: %d images for %d credits, %d left\n", result.Status, len(result.Images), result.Credits,
		result.Balance.Credits)
	for i, image := range result.Images {
		name := fmt.Sprintf("fox-%d.png", i+1)
		if err := save(ctx, alice, image.ID, filepath.Join(dir, name)); err != nil {
			return err
		}
		fmt.Fprintf(out, "%s: %d x %d, %s\n", name, image.Width, image.Height, image.MediaType)
	}
	return nil
}

func save(ctx context.Context, s imagegen.Service, id imagegen.ImageID, name string) error {
	image, err := s.OpenImage(ctx, id)
	if err != nil {
		return err
	}
	defer image.Close()
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	if _, err := io.Copy(file, image); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}
