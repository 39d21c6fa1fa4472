package metrics

import (
	"context"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

const (
	// openAge is how long it is believed which charges are open: to count them is to read them.
	openAge = 15 * time.Second
	// openLooked is among how many of the oldest of them the oldest that waits is looked for. Far fewer run.
	openLooked = 1024
)

// open are the open charges, as they were counted last.
type open struct {
	mu    sync.Mutex
	at    time.Time
	known bool
	last  openCharges
}

type openCharges struct {
	charges, disputes    int
	oldest, oldestQueued time.Time // zero: there is none
}

// look counts them, if that was not done of late. false: they could not be counted.
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
