// Command mount serves the image API beside the other routes of a server that is there already, until it
// is interrupted. It prints a command to try it with.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	listener, err := net.Listen("tcp", "127.0.0.1:8080")
	if err == nil {
		err = run(ctx, listener, os.Stdout)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, l net.Listener, out io.Writer) error {
	db := memory.New(nil)
	service, err := engine.New(engine.Config{
		Store:  db,
		Ledger: db,
		Models: []engine.Model{{
			ID:       "fake-1",
			Provider: &provider.Fake{},
			Credits:  map[imagegen.Tier]imagegen.Credits{"1K": 1},
		}},
	})
	if err != nil {
		return err
	}
	if err := service.Start(); err != nil {
		return err
	}
	defer service.Stop(context.WithoutCancel(ctx))
	key, err := customer(ctx, service, db)
	if err != nil {
		return err
	}

	// The API takes /api/v1/ and /images/; everything else stays the server's own.
	api := httpapi.NewHandler(service, httpapi.Options{})
	mux := http.NewServeMux()
	mux.Handle("/api/v1/", api)
	mux.Handle("/images/", api)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "the shop") })

	fmt.Fprintf(out,
		"curl http://%s/api/v1/images/generations -H 'Authorization: Bearer %s' --json '{\"model\":\"fake-1\",\"prompt\":\"a fox in the snow\"}'\n", l.Addr(), key.Reveal())
	server, ended := httpapi.NewServer(mux), make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return server.Shutdown(context.WithoutCancel(ctx))
	}
}

// customer makes a user with credits, and a key.
func customer(ctx context.Context, service *engine.Engine, db *memory.DB) (key imagegen.Secret, err error) {
	user, err := service.Accounts().CreateUser(ctx, "alice", "PRO")
	if err != nil {
		return key, err
	}
	if _, err := db.Grant(ctx, imagegen.Grant{User: user.ID, Credits: 10}); err != nil {
		return key, err
	}
	key, _, err = service.Accounts().MintKey(ctx, user.ID, "shop", time.Time{})
	return key, err
}
