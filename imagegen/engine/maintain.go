package engine

import (
	"context"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// maintenance is the interval of work that is not urgent.
const maintenance = time.Minute

// maintain runs until ctx ends. Once a minute it records when keys were used, retries
// failed removals, catches up with what other engines on the store have ended, and fails,
// erases or forgets what has reached its age. Each step logs its
// own failures, and hinders none of the others.
func (e *Engine) maintain(ctx context.Context) {
	for ctx.Err() == nil {
		e.Readiness(ctx) // so that its changes are logged though nobody asks
		pause(ctx, maintenance)
		e.flushKeyUse()
		e.retryRemovals(ctx)
		e.removeEndedUploads(ctx)
		e.endLeftCalls(ctx)
		e.failAged(ctx)
		e.noteStoredUsers(ctx)
		if e.cfg.Retain > 0 {
			e.eraseAged(ctx)
		}
		if e.cfg.KeepFailedPrompts > 0 {
			e.forgetAged(ctx, imagegen.StateFailed, e.cfg.KeepFailedPrompts)
		}
		e.forgetAged(ctx, imagegen.StateErased, imagegen.ReservationTime)
		e.tidyTrail(ctx)
	}
}

// tidyTrail removes rows from the audit trail that have reached their age, and writes
// counts that are due.
func (e *Engine) tidyTrail(ctx context.Context) {
	var before time.Time
	if e.cfg.TrailRetain > 0 {
		before = e.cfg.Now().Add(-e.cfg.TrailRetain)
	}
	t := e.Trail()
	if t == nil {
		return
	}
	if err := t.TidyTrail(ctx, before); err != nil && ctx.Err() == nil {
		e.cfg.Log.WarnContext(ctx, "the audit trail could not be tidied", "error", err)
	}
}

// flushKeyUse records when keys were last used. A failure is only logged: the time is for
// display.
func (e *Engine) flushKeyUse() {
	used := e.accounts.KeysUsed()
	if len(used) == 0 {
		return
	}
	ctx, cancel := withoutCancel(context.Background())
	defer cancel()
	if err := e.store.TouchKeys(ctx, used); err != nil {
		e.cfg.Log.Warn("the last use of keys could not be recorded", "error", err)
	}
}
