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

// upkeepEvery is how often what is in no hurry is looked after.
const upkeepEvery = time.Minute

// upkeep tells that the machine slept, writes off expired credits, and sets space aside again after the disk was full.
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

// noteSleep tells of a gap, which is no doubt about the clock.
func (db *DB) noteSleep(slept time.Duration) {
	if slept >= loggedGap {
		db.log.Info("time went on while the machine slept", "gap", slept.String())
	}
}

// cleanup removes what the process before has left: files that were being written, uploads that
// belong to no open generation, and images of attempts that were cut short, but for those that were shown. It looks at what is
// open, not at the past.
func (db *DB) cleanup(ctx context.Context) error {
	if err := db.emptyTemp(); err != nil {
		return err
	}
	kept := make(map[string]bool)
	var cutShort []imagegen.Record
	var damaged []error
	err := db.file.View(ctx, func(tx kv.Tx) (err error) {
		damaged, err = tables.Open(tx, func(r imagegen.Record) error {
			for _, f := range r.References {
				kept[string(f.ID)] = true
			}
			if r.State == imagegen.StateProcessing {
				cutShort = append(cutShort, r)
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
	if len(damaged) > 0 { // whose uploads are those that nobody names
		return nil
	}
	return db.clear(spoolDir, "", kept)
}

// emptyTemp removes what was half written, also of a beginning or a restoration.
func (db *DB) emptyTemp() error {
	return errors.Join(db.clear(tempDir, "", nil), db.clear(".", scratchPrefix, nil))
}

// clear removes what lies in a directory under names that begin with prefix, except what is kept.
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
