// Command console serves the image API and the account area on one port. The first time that it
// starts it prints the link by which you become the operator.
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
	"github.com/imagegend/imagegend/imagegen/console"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/storage"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	listener, err := net.Listen("tcp", "127.0.0.1:8080")
	if err == nil {
		err = run(ctx, "console-data", listener, os.Stdout)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, dir string, l net.Listener, out io.Writer) error {
	db, err := storage.Open(dir, nil)
	if err != nil {
		return err
	}
	defer db.Close()
	service, err := engine.New(engine.Config{
		Store: db, Ledger: db, Thumbnails: true, // for the gallery
		Models: []engine.Model{{ID: "fake-1", Provider: &provider.Fake{},
			Credits: map[imagegen.Tier]imagegen.Credits{"1K": 1, "2K": 2}}},
	})
	if err != nil {
		return err
	}
	account, err := console.New(console.Config{
		Engine: service, Ledger: db, Logins: db,
		Operations: console.EngineOperations{Engine: service, Version: "example", Started: time.Now()},
	})
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/", httpapi.NewHandler(service, httpapi.Options{}))
	mux.Handle(console.DefaultPath, account)

	if err := service.Start(); err != nil {
		return err
	}
	defer service.Stop(context.WithoutCancel(ctx))
	link, err := console.SetupLink(ctx, db, time.Now().Add(15*time.Minute)) // "" once there is an operator
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "open http://%s%s\n", l.Addr(), console.DefaultPath+link)
	server, ended := httpapi.NewServer(mux), make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return server.Shutdown(context.WithoutCancel(ctx))
	}
}
