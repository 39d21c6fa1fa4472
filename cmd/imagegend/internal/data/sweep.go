package data

import (
	"context"
	"log/slog"
	"time"

	"github.com/imagegend/imagegend/imagegen/storage/s3"
)

const (
	// sweepEvery is how often the nodes look for objects that no record names. A node that dies between writing an
	// object and its record leaves one.
	sweepEvery = 24 * time.Hour
	// askEvery is how often each node asks whether it is its turn.
	askEvery = 10 * time.Minute
	// sliceTime is how long one node sweeps before another may go on. A bucket with many objects takes days.
	sliceTime = time.Minute
)

// The duties of TurnTaker: to begin a sweep, which has a place, and to carry it on for a while.
const (
	wholeSweep = "sweep"
	slice      = "sweep slice"
)

// sweep removes objects that no record names whenever it is this node's turn, until ctx ends. Only objects older than
// s3.OrphanAge go: the record of a younger one may still come.
func (s *shared) sweep(ctx context.Context, log *slog.Logger) {
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		// An error of the database means that it is away, which readiness reports.
		if mine, err := s.Turn(ctx, wholeSweep, sweepEvery); err == nil && mine {
			_ = s.SetPlace(ctx, wholeSweep, new(""))
		}
		for s.sweepSlice(ctx, log) {
		}
	}
}

// sweepSlice carries a sweep on for sliceTime, if one is under way and no other node does. It reports whether something
// is left.
func (s *shared) sweepSlice(ctx context.Context, log *slog.Logger) (more bool) {
	if mine, err := s.Turn(ctx, slice, sliceTime); err != nil || !mine {
		return false
	}
	place, err := s.Place(ctx, wholeSweep)
	if err != nil || place == nil {
		return false
	}
	within, cancel := context.WithTimeout(ctx, sliceTime)
	defer cancel()
	removed, err := s.RemoveOrphansFrom(within, s3.OrphanAge, s.DB, *place, func(place string) error {
		return s.SetPlace(ctx, wholeSweep, &place)
	})
	if removed > 0 {
		log.Info("objects that no record names were removed", "removed", removed)
	}
	switch {
	case err == nil:
		_ = s.SetPlace(ctx, wholeSweep, nil)
	case ctx.Err() == nil && within.Err() != nil:
		return true
	case ctx.Err() == nil:
		log.Warn("objects that no record names were not all removed", "error", err)
	}
	return false
}
