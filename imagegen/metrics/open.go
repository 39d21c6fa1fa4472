package metrics

import (
	"context"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

const (
	// openAge is how long a count of open charges is used. Counting reads every one of them.
	openAge = 15 * time.Second
	// openLooked is how many of the oldest open charges are searched for the oldest queued generation. It would be
	// missed only if more generations than that were older and under way, and far fewer can be.
	openLooked = 1024
)

// open caches the counts of open charges. mu is held while they are counted, so that two scrapes do not count at the
// same time.
type open struct {
	mu    sync.Mutex
	at    time.Time
	known bool // whether the last count succeeded
	last  openCharges
}

// openCharges are counts, and since when the oldest waits.
type openCharges struct {
	charges, disputes    int
	oldest, oldestQueued time.Time // zero: there is none
}

// look returns a count that is at most openAge old; false if it failed. A failed count is kept as long as a good one,
// so that a store that is away is not asked at each scrape.
func (o *open) look(ctx context.Context, e *engine.Engine) (openCharges, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.at.IsZero() && time.Since(o.at) < openAge {
		return o.last, o.known
	}
	found, err := count(ctx, e)
	o.at, o.last, o.known = time.Now(), found, err == nil
	return o.last, o.known
}

// count reads the open charges, oldest first. The first is the oldest of all.
func count(ctx context.Context, e *engine.Engine) (found openCharges, err error) {
	records, all, err := e.Unsettled(ctx, "", openLooked)
	if err != nil {
		return found, err
	}
	found.charges = all
	for _, r := range records {
		if found.oldest.IsZero() {
			found.oldest = r.CreatedAt
		}
		if r.State == imagegen.StateQueued {
			found.oldestQueued = r.CreatedAt
			break
		}
	}
	_, found.disputes, err = e.Disputed(ctx, "", 1)
	return found, err
}
