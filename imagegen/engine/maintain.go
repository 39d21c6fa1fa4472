package engine

import (
	"context"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine/internal/waiting"
)

// maintenance is the interval of work that is not urgent.
const maintenance = time.Minute

// maintain runs until ctx ends. Once a minute it records when keys were used, retries failed removals, catches up with
// what other engines on the store have ended, writes events of limits that were reached, fails work that is too old,
// and, when it is this engine's turn, writes events of high costs and erases or forgets what has reached its age; with
// WorkNone, others do the last three. Each step logs its own failures, and hinders none of the others.
func (e *Engine) maintain(ctx context.Context) {
	for ctx.Err() == nil {
		e.Readiness(ctx) // so that its changes are logged though nobody asks
		waiting.Pause(ctx, maintenance)
		e.flushKeyUse()
		e.retryRemovals(ctx, turnTime)
		e.removeEndedUploads(ctx)
		e.waiting.EndLeft(ctx)
		e.noteStoredUsers(ctx)
		e.tidyTrail(ctx, time.Time{})
		e.tellLimits()
		if e.cfg.Work == WorkNone {
			continue
		}
		e.failAged(ctx)
		e.tellCosts(ctx)
		for e.turn(ctx, "retention") {
			if e.removeAged(ctx) {
				break
			}
		}
	}
}

// warn logs an error, unless there is none, or ctx has ended: then it need not mean anything.
func (e *Engine) warn(ctx context.Context, err error, message string, about ...any) {
	if err != nil && ctx.Err() == nil {
		e.cfg.Log.WarnContext(ctx, message, append(about, "error", err)...)
	}
}

// turnTime is how long an engine has a duty that one of all engines on the store carries out.
// It is shorter than the pause of maintenance, so that a lone engine gets each turn.
const turnTime = maintenance / 2

// turn reports whether this engine has a duty for turnTime. A Store that is not a TurnTaker serves one
// engine, or has each do all of it.
func (e *Engine) turn(ctx context.Context, duty string) bool {
	turns, ok := e.store.(imagegen.TurnTaker)
	if !ok || ctx.Err() != nil {
		return ctx.Err() == nil
	}
	mine, err := turns.Turn(ctx, duty, turnTime)
	e.warn(ctx, err, "it is not known which engine has a duty", "duty", duty)
	return mine && err == nil
}

// removeAged erases, forgets and removes what has reached its age, for at most turnTime.
// done: nothing is left.
func (e *Engine) removeAged(ctx context.Context) (done bool) {
	ctx, cancel := context.WithTimeout(ctx, turnTime)
	defer cancel()
	if e.cfg.Retention.Generations > 0 {
		e.eraseAged(ctx)
	}
	if e.cfg.Retention.FailedPrompts > 0 {
		e.forgetAged(ctx, imagegen.StateFailed, e.cfg.Retention.FailedPrompts)
	}
	e.forgetAged(ctx, imagegen.StateErased, imagegen.IdempotencyKeyLifetime)
	if e.cfg.Retention.Trail > 0 {
		e.tidyTrail(ctx, e.cfg.Now().Add(-e.cfg.Retention.Trail))
	}
	e.tidyFeed(ctx)
	return ctx.Err() == nil
}

// tidyTrail writes counts that are due to the audit trail, and removes rows from before a
// time; the zero time removes none.
func (e *Engine) tidyTrail(ctx context.Context, before time.Time) {
	if t := e.Trail(); t != nil {
		e.warn(ctx, t.TidyTrail(ctx, before), "the audit trail could not be tidied")
	}
}

// flushKeyUse records when keys were last used. A failure is only logged: the time is for
// display.
func (e *Engine) flushKeyUse() {
	used := e.accounts.TakeUsedKeys()
	if len(used) == 0 {
		return
	}
	ctx, cancel := withoutCancel(context.Background())
	defer cancel()
	if err := e.store.TouchKeys(ctx, used); err != nil {
		e.cfg.Log.Warn("the last use of keys could not be recorded", "error", err)
	}
}
