// Embedded is a program that embeds the service with a provider that has its image ready, and keeps
// the images in memory: what is left is the service itself and its database.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"runtime/debug"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/storage"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
)

func main() {
	dir := flag.String("dir", "", "where the database lies")
	image := flag.String("image", "", "the file that is every image")
	profile := flag.String("profile", "", "an address to serve profiles on, such as 127.0.0.1:6060")
	flag.Parse()
	if *profile != "" {
		go http.ListenAndServe(*profile, nil)
	}
	if err := run(context.Background(), *dir, *image); err != nil {
		log.Fatal(err)
	}
}

// gcPercent is what the daemon sets.
const gcPercent = 400

func run(ctx context.Context, dir, image string) error {
	debug.SetGCPercent(gcPercent)
	ready, err := os.ReadFile(image)
	if err != nil {
		return err
	}
	db, err := storage.Open(dir, nil)
	if err != nil {
		return err
	}
	access := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	engine, err := imagegen.New(imagegen.Config{
		Store: db, Ledger: db, Images: memory.New(nil), Log: access, Concurrency: 256,
		Models: []imagegen.Model{{ID: "fake-1", Provider: &provider.Fake{Image: ready}, Credits: map[imagegen.Tier]imagegen.Credits{imagegen.Tier1K: 1}}},
	})
	if err != nil {
		return err
	}
	if err := engine.Start(ctx); err != nil {
		return err
	}
	key, err := account(ctx, engine, db)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s\n%s\n", l.Addr(), key)
	return httpapi.NewServer(httpapi.NewHandler(engine, httpapi.Options{Log: access})).Serve(l)
}

// account makes a user who can pay for everything, and a key.
func account(ctx context.Context, engine *imagegen.Engine, db *storage.DB) (string, error) {
	user, err := engine.Accounts().CreateUser(ctx, "bench", "PRO")
	if err != nil {
		return "", err
	}
	if _, err := db.Grant(ctx, imagegen.Grant{User: user.ID, Credits: 1_000_000_000}); err != nil {
		return "", err
	}
	key, _, err := engine.Accounts().MintKey(ctx, user.ID, "bench", time.Time{})
	return key.Reveal(), err
}
