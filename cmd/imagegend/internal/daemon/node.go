package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/adminserver"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/catalog"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/data"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/private"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/storage"
)

// node is an engine over opened data.
type node struct {
	db     data.Store
	engine *engine.Engine
}

// openNode opens the data and makes an engine over it, which is not started. The caller closes db. openNode makes what
// does not exist yet, but refuses a directory that everybody could change. warnings, log and o may be nil.
func openNode(ctx context.Context, s config.Settings, models []engine.Model,
	warnings func(context.Context) []imagegen.Notice, log *slog.Logger, o imagegen.Observer) (*node, error) {
	if err := private.CheckDir(s.DataDir); err != nil {
		return nil, err
	}
	db, err := data.Open(ctx, s.Data, data.Options{Serving: true, Log: log, Observer: o})
	// The lock of the database is what makes this process the only one at work on the directory.
	if errors.Is(err, storage.ErrLocked) {
		return nil, fmt.Errorf("the data directory %s is in use by another process: a server, or a command at work on it; end it, or name another directory with --data-dir", s.DataDir)
	}
	if errors.Is(err, storage.ErrOutcomeUnknown) {
		log.Error("the disk failed under a commit: the service does not start", "error", err)
		return nil, adminserver.ErrDisk
	}
	if err != nil {
		return nil, err
	}
	if err := keepCurrency(ctx, db, s.Currency); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if !s.Events { // a former process may have kept them
		if err := db.KeepFeed(ctx, false); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	secret, err := db.Secret(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	service, err := engine.New(engine.Config{
		Store:  db,
		Ledger: db,
		Models: models,
		Policy: catalog.Policies[s.Policy],
		Nodes:  s.Nodes,
		Limits: engine.Limits{Concurrency: s.Concurrency, SlotWait: s.SlotWait, MaxQueued: s.MaxQueued,
			FairShares: s.FairShares, MaxRefusals: orNever(s.MaxRefusals)},
		Attempts: engine.Attempts{Timeout: s.AttemptTimeout},
		Repeats:  engine.Repeats{JoinWindow: orNever(s.JoinWindow)},
		Retention: engine.Retention{Generations: s.Retain, FailedPrompts: orNever(s.KeepFailed), Trail: s.TrailRetain,
			Events: orNever(s.EventsRetain)},
		Feed:            s.Events,
		NotifyCostAbove: s.CostAbove,
		// Only the console shows thumbnails.
		Thumbnails: s.Console,
		EndUserKey: secret[:],
		Warnings:   warnings,
		Observer:   o,
		Log:        log,
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &node{db, service}, nil
}

// keepCurrency refuses another currency than that of the costs that are kept, since amounts are not converted.
func keepCurrency(ctx context.Context, db data.Store, code string) error {
	noted, err := db.Currency(ctx, code, false)
	if err != nil || noted == code {
		return err
	}
	var cost imagegen.Micros
	ever := time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
	if err := db.EachTotals(ctx, time.Unix(0, 0), ever, func(r imagegen.TotalsRow) { cost += r.Cost }); err != nil {
		return err
	}
	if cost > 0 {
		return fmt.Errorf("the currency is set to %s, and the data has costs in %s, which cannot be converted: set "+
			"--currency %s again, and write the costs of the models in it", code, noted, noted)
	}
	_, err = db.Currency(ctx, code, true)
	return err
}

// The account with which --dev begins, in serve and in a Sandbox.
const (
	devUser                     = "dev"
	devCredits imagegen.Credits = 1000
)

// openAccount makes a user with credits, in data that ends with the process.
func (n *node) openAccount(ctx context.Context) (imagegen.User, error) {
	u, err := n.engine.Accounts().CreateUser(ctx, devUser, "")
	if err != nil {
		return u, err
	}
	_, err = n.db.Grant(ctx, imagegen.Grant{User: u.ID, Credits: devCredits, Priority: imagegen.DefaultPriority})
	return u, err
}

// orNever translates a setting in which 0 means never for the engine, in which 0 means the default and a negative
// value never.
func orNever[T int | time.Duration](v T) T {
	if v == 0 {
		return -1
	}
	return v
}
