package data

import (
	"context"
	"log/slog"
	"time"

	"github.com/imagegend/imagegend/imagegen/storage/s3"
)

const (
	// sweepEvery is how often one of all nodes looks for objects that no record names: those of a node that died
	// between the two.
	sweepEvery = 24 * time.Hour
	// askEvery is how often a node asks whether it is on it.
	askEvery = 10 * time.Minute
)

// sweep removes what no record names, when it is on this node.
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
			continue // without a database there is more to be told of than this
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
