// Embedded is a program that embeds the service, with everything in memory or, to profile it, on disk.
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
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/provider/openai"
	"github.com/imagegend/imagegend/imagegen/storage"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
)

func main() {
	dir := flag.String("dir", "", "where database and images lie; in memory if empty")
	image := flag.String("image", "", "the file that is every image")
	upstream := flag.String("upstream", "", "where the API begins that makes the images, instead of -image")
	profile := flag.String("profile", "", "an address to serve profiles on, such as 127.0.0.1:6060")
	flag.Parse()
	if *profile != "" {
		go http.ListenAndServe(*profile, nil)
	}
	if err := run(context.Background(), *dir, *image, *upstream); err != nil {
		log.Fatal(err)
	}
}

// gcPercent is what the daemon sets.
const gcPercent = 400

func run(ctx context.Context, dir, image, upstream string) error {
	debug.SetGCPercent(gcPercent)
	maker, err := newProvider(image, upstream)
	if err != nil {
		return err
	}
	db, err := open(dir)
	if err != nil {
		return err
	}
	access := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	service, err := engine.New(engine.Config{
		Store: db, Ledger: db, Log: access,
		Models: []engine.Model{{ID: "bench", Provider: maker, Credits: map[imagegen.Tier]imagegen.Credits{"1K": 1,
			"2K": 2, "4K": 4}}},
	})
	if err != nil {
		return err
	}
	if err := service.Start(); err != nil {
		return err
	}
	key, err := account(ctx, service, db)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s\n%s\n", l.Addr(), key)
	return httpapi.NewServer(httpapi.NewHandler(service, httpapi.Options{Log: access})).Serve(l)
}

func newProvider(image, upstream string) (imagegen.Provider, error) {
	if upstream != "" {
		return openai.New(openai.Config{BaseURL: upstream, Private: true,
			Sizes: []imagegen.Size{{Width: 1024, Height: 1024}, {Width: 4096, Height: 4096}}})
	}
	b, err := os.ReadFile(image)
	return &provider.Fake{Image: b}, err
}

// database is both of what the service needs.
type database interface {
	imagegen.Store
	imagegen.Ledger
	Grant(context.Context, imagegen.Grant) (imagegen.Granted, error)
}

func open(dir string) (database, error) {
	if dir == "" {
		return memory.New(nil), nil
	}
	return storage.Open(dir, nil)
}

// account makes a user who can pay for everything, and a key.
func account(ctx context.Context, service *engine.Engine, db database) (string, error) {
	user, err := service.Accounts().CreateUser(ctx, "bench", "PRO")
	if err != nil {
		return "", err
	}
	if _, err := db.Grant(ctx, imagegen.Grant{User: user.ID, Credits: 1_000_000_000}); err != nil {
		return "", err
	}
	key, _, err := service.Accounts().MintKey(ctx, user.ID, "bench", time.Time{})
	return key.Reveal(), err
}
