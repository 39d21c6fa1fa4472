package storage

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/tables"
)

// upkeepEvery is how often upkeep does its work, none of which is urgent.
const upkeepEvery = time.Minute

// upkeep logs that the machine slept, writes off expired credits, and lays the ballast again after the disk was
// full. Nothing depends on when it runs: expired credits do not count even before they are written off. It
// returns when ctx ends.
func (db *DB) upkeep(ctx context.Context) {
	tick := time.NewTicker(upkeepEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		db.noteSleep(db.clock.Slept())
		if err := db.clock.ExpireAll(ctx); err != nil && ctx.Err() == nil {
			db.log.Warn("expired credits were not written off", "error", err)
		}
		if err := db.space.layBallast(); err != nil {
			db.log.Warn("no space could be set aside for a full disk", "error", err)
		}
	}
}

// noteSleep logs that the machine slept for long. That is normal, and raises no doubt about the clock.
func (db *DB) noteSleep(slept time.Duration) {
	if slept >= loggedGap {
		db.log.Info("time went on while the machine slept", "gap", slept.String())
	}
}

// cleanup removes what the previous process left: files that were being written, uploads that belong to no
// open generation, and images of attempts that were cut short, except those that were shown. It reads only
// open generations, so that its cost does not grow with the past.
//
// Nobody else uses the directory yet, so what looks abandoned is abandoned.
func (db *DB) cleanup(ctx context.Context) error {
	if err := db.emptyTemp(); err != nil {
		return err
	}
	kept := make(map[string]bool)
	var cutShort []imagegen.Record
	var damaged []error
	err := db.file.View(ctx, func(tx kv.Tx) (err error) {
		damaged, err = tables.EachOpen(tx, func(r tables.Row) error {
			for _, f := range r.References {
				kept[string(f.ID)] = true
			}
			if r.State == imagegen.StateProcessing {
				cutShort = append(cutShort, r.Record)
			}
			return nil
		})
		return err
	})
	if err != nil {
		return err
	}
	for _, r := range cutShort {
		var shown []imagegen.ImageID
		for _, i := range r.Images {
			shown = append(shown, i.ID, i.ID.Thumbnail())
		}
		for n := 1; n <= r.Attempt; n++ {
			if err := db.RemoveImages(ctx, r.ID, n, shown...); err != nil {
				return err
			}
		}
	}
	// An upload that no readable record names may belong to a damaged one. It is needed if a backup of
	// the database is restored, so all uploads stay until then.
	if len(damaged) > 0 {
		return nil
	}
	return db.clear(spoolDir, "", kept)
}

// emptyTemp removes what was half written, and what is left of a database that was being created or restored.
func (db *DB) emptyTemp() error {
	return errors.Join(db.clear(tempDir, "", nil), db.clear(".", scratchPrefix, nil))
}

// clear removes from a directory what has a name that begins with prefix, directories included, except
// the names in kept.
func (db *DB) clear(dir, prefix string, kept map[string]bool) error {
	names, err := db.spool.files.list(dir, prefix)
	if err != nil {
		return err
	}
	for _, name := range names {
		if kept[name] {
			continue
		}
		if err := db.root.RemoveAll(path.Join(dir, name)); err != nil {
			return fmt.Errorf("storage: %w", err)
		}
	}
	return nil
}
