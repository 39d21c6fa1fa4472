package data

import (
	"context"
	"log/slog"
	"time"

	"github.com/imagegend/imagegend/imagegen/storage/s3"
)

const (
	// sweepEvery is how often one of all nodes looks for objects that no record names. A node that dies between
	// writing an object and its record leaves one.
	sweepEvery = 24 * time.Hour
	// askEvery is how often each node asks whether it is its turn.
	askEvery = 10 * time.Minute
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
		if mine, err := s.Turn(ctx, "sweep", sweepEvery); err != nil || !mine {
			continue // an error means that the database is away, which readiness reports
		}
		removed, err := s.RemoveOrphans(ctx, s3.OrphanAge, s.DB)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			log.Warn("objects that no record names were not all removed", "removed", removed, "error", err)
		case removed > 0:
			log.Info("objects that no record names were removed", "removed", removed)
		}
	}
}
