// Command saas is a shop that sells pictures. It keeps its orders and everything of the image service in one
// PostgreSQL: an order, its charge and its queued image are one transaction. It runs as two kinds of processes, of
// which there may be any number:
//
//	export DATABASE_URL=postgres://localhost/shop
//	go run ./examples/saas web      # takes orders, waits and shows pictures; it needs no upstream's key
//	go run ./examples/saas worker   # makes the pictures
//
//	curl -d item=mug -d 'prompt=a fox' http://127.0.0.1:8080/orders
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/storage/postgres"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	address := os.Getenv("ADDRESS")
	if address == "" {
		address = "127.0.0.1:8080"
	}
	mode := ""
	if len(os.Args) == 2 {
		mode = os.Args[1]
	}
	if err := run(ctx, mode, os.Getenv("DATABASE_URL"), address, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run is a web process or a worker, until the context ends. Both make what tables are missing.
func run(ctx context.Context, mode, url, address string, out io.Writer) error {
	pool, err := openPool(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	db, err := postgres.Open(ctx, postgres.Config{Pool: pool, Schema: "images", Migrate: true})
	if err != nil {
		return err
	}
	defer db.Close()
	files := &files{pool}
	cfg := engine.Config{Store: db, Ledger: db, Images: files, Spool: files, Models: []engine.Model{{
		ID: "fake-1", Provider: &provider.Fake{}, Credits: map[imagegen.Tier]imagegen.Credits{"1K": 1}}}}
	switch mode {
	case "web":
		cfg.Work = engine.WorkNone
		cfg.Models[0].Provider = declared()
	case "worker":
	default:
		return errors.New("say web or worker")
	}
	service, err := engine.New(cfg)
	if err != nil {
		return err
	}
	if err := service.Start(); err != nil {
		return err
	}
	defer service.Stop(context.WithoutCancel(ctx))
	if mode == "worker" {
		fmt.Fprintln(out, "working")
		return sweep(ctx, files, db)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "http://%s/orders\n", l.Addr())
	return serve(ctx, l, &shop{pool, db, service})
}

// sweep removes what killed processes have left, once an hour. Nothing is on its way for two days.
func sweep(ctx context.Context, f *files, db *postgres.DB) error {
	for ctx.Err() == nil {
		if err := f.sweep(ctx, db, 48*time.Hour); err != nil && ctx.Err() == nil {
			log.Print(err)
		}
		select {
		case <-time.After(time.Hour):
		case <-ctx.Done():
		}
	}
	return nil
}

// declared is what the workers' provider can do. Here it could be that one itself; an upstream's needs a key, which a
// web process should not have.
func declared() imagegen.Provider {
	fake := &provider.Fake{}
	return provider.Declared{Name: fake.Name(), Capabilities: fake.Capabilities(), Check: fake.Check}.Provider()
}

// openPool opens the shop's pool and makes its tables.
func openPool(ctx context.Context, url string) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	postgres.Watch(config)
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	if _, err := pool.Exec(ctx, tables); err != nil {
		pool.Close()
		return nil, err
	}
	return pool, nil
}

// tables are the shop's own. The lock is for processes that start at once.
const tables = `begin;
select pg_advisory_xact_lock(1);
create schema if not exists shop;
create table if not exists shop.orders (id bigint generated always as identity primary key, customer text not null,
  item text not null, generation text not null unique, ordered_at timestamptz not null default now());
create table if not exists shop.files (name text primary key, bytes bytea not null, kept boolean not null default true,
  made_at timestamptz not null default now());
commit`
