package engine

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// That a limit was reached, and that a day costs too much, follows from no commit. So a refused call only notes its
// limit, and maintain writes the events: of all engines on a store one for each limit or line and period.

// limitsReached are the limits that have refused charges since maintain has last written them. It is safe for
// concurrent use.
type limitsReached struct {
	mu  sync.Mutex
	all map[imagegen.FeedEvent]bool // a refusal by the same limit has an equal event
}

// noteLimit notes the limit of credits that has refused the charge of a generation, if one has.
func (e *Engine) noteLimit(r imagegen.Record, err error) {
	by, limited := errors.AsType[*imagegen.LimitError](err)
	if !limited || !e.cfg.Feed {
		return
	}
	e.reached.mu.Lock()
	defer e.reached.mu.Unlock()
	if e.reached.all == nil {
		e.reached.all = make(map[imagegen.FeedEvent]bool)
	}
	e.reached.all[imagegen.FeedEvent{Kind: imagegen.FeedLimit, User: r.User, Payer: r.Payer, Key: by.Key,
		Limit: by.Limit, Period: e.now().Format(by.Period)}] = true
}

// tellLimits writes events of the limits that were noted. It goes on while the engine stops.
func (e *Engine) tellLimits() {
	e.reached.mu.Lock()
	all := e.reached.all
	e.reached.all = nil
	e.reached.mu.Unlock()
	ctx, cancel := withoutCancel(context.Background())
	defer cancel()
	for event := range all {
		e.tellOnce(ctx, event)
	}
}

// tellCosts writes events of days whose costs are above the line. What was accepted yesterday counts for yesterday, and
// may end today.
func (e *Engine) tellCosts(ctx context.Context) {
	if e.cfg.NotifyCostAbove == 0 || !e.turn(ctx, "costs") {
		return
	}
	costs, today := make(map[string]imagegen.Micros), imagegen.UsageDay(e.Now())
	err := e.store.(imagegen.TotalsKeeper).EachTotals(ctx, today.AddDate(0, 0, -1), today,
		func(r imagegen.TotalsRow) { costs[r.Day.Format(time.DateOnly)] += r.Cost })
	if err != nil {
		e.cfg.Log.WarnContext(ctx, "the costs of the day could not be read", "error", err)
		return
	}
	for day, cost := range costs {
		if cost > e.cfg.NotifyCostAbove {
			e.tellOnce(ctx, imagegen.FeedEvent{Kind: imagegen.FeedCost, Period: day, Cost: cost,
				Above: e.cfg.NotifyCostAbove})
		}
	}
}

// tellOnce writes an event unless one of the same limit or line and period was written, by any engine. If the process
// ends in between, there is none: readers are promised one at most.
func (e *Engine) tellOnce(ctx context.Context, event imagegen.FeedEvent) {
	marks, ok := e.store.(account.LoginStore)
	if !ok {
		return
	}
	now, fresh := e.Now(), false
	until := now.AddDate(0, 2, 0)
	if event.Period == "" {
		until = now.AddDate(100, 0, 0) // a limit in all is reached once
	}
	key := sha256.Sum256(fmt.Appendf(nil, "%s %q %q %d %d %s", event.Kind, event.User, event.Key, event.Limit,
		event.Above, event.Period))
	err := marks.Mark(ctx, now, [][32]byte{key}, func(kept []time.Time) bool {
		fresh, kept[0] = kept[0].IsZero(), until
		return fresh
	})
	if err == nil && fresh {
		err = e.store.(imagegen.FeedKeeper).Tell(ctx, event)
	}
	e.warn(ctx, err, "an event could not be written", "kind", event.Kind)
}
