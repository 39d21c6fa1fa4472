package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine/internal/schedule"
	"github.com/imagegend/imagegend/imagegen/engine/internal/waiting"
)

// dispatch claims queued work whenever there are free slots, until ctx ends. Slots are
// lent to the queue between ForQueue and Claimed. If it could use none of them, dispatch
// sleeps until the Store reports new work, delayed work is due, or the slots can offer more
// than they did. While images cannot be stored it claims nothing.
func (e *Engine) dispatch(ctx context.Context) {
	for ctx.Err() == nil {
		wake := e.store.Wake() // before Claim, so that nothing is missed
		offered, err := e.slots.ForQueue(ctx)
		if err != nil {
			return
		}
		if e.breaker.err() != nil {
			e.slots.Claimed(offered, nil)
			e.breaker.wait(ctx)
			continue
		}
		offered.Lease = e.cfg.Attempts.Lease
		records, next, err := e.store.Claim(ctx, offered)
		taken, better := e.slots.Claimed(offered, records)
		for i, r := range records {
			e.launch(r, taken[i])
		}
		if len(records) > 0 {
			continue
		}
		e.warn(ctx, err, "queued work could not be claimed")
		if err != nil || next <= 0 || next > e.cfg.Attempts.Lease { // by then the clock may have been set
			next = e.cfg.Attempts.Lease
		}
		waiting.Pause(ctx, next, wake, better, e.hints)
	}
}

// launch starts an attempt at a claimed generation, for which a slot is held. It returns
// at once. The attempt, or launch itself if it starts none, gives back the slot and the
// place in the lifecycle.
func (e *Engine) launch(r imagegen.Record, held schedule.Slot) {
	e.noteUser(context.Background(), r.Account())
	m, offered := e.catalogs.current.Load().entries[r.Model]
	why, left := e.unrunnable(r, m, offered)
	if r.Attempt == 1 {
		e.observeHosted(context.Background(), r)
	}
	if err := e.life.admitWork(); err != nil {
		e.slots.Release(held, schedule.Finding{})
		e.requeue(r, why, left)
		return
	}
	if why != "" {
		// it may take long, and the leases of those claimed with it run; the slot bounds how many do so at once
		go func() {
			defer e.life.workEnded()
			defer e.slots.Release(held, schedule.Finding{})
			e.requeue(r, why, left)
		}()
		return
	}
	if r.Attempt == 1 { // further ones wait by design
		e.observeWait(context.Background(), r, e.Age(r.CreatedAt), nil)
	}
	a := &attempt{engine: e, slot: held, record: r, model: m,
		shown: func(imagegen.Record) {}, answer: func(imagegen.Record, error) {}}
	go a.run(context.Background(), e.cfg.Attempts.Timeout)
}

// waitedTooLong is the reason that is stored when work was never begun within
// Config.Attempts.MaxAge.
const waitedTooLong = "it waited beyond its maximum age"

// unrunnable returns why no attempt at a claimed generation can start; "" if one can.
// left reports that another engine on the same store may be able to do it.
func (e *Engine) unrunnable(r imagegen.Record, m catalogEntry, offered bool) (why string, left bool) {
	switch {
	case e.tooOld(r):
		return waitedTooLong, false
	case !offered:
		return "the model is not offered here", true
	case !m.resumes(r): // which may have made it, and would make it again
		return fmt.Sprintf("its upstream job was saved by %q, and the model is made by %q here", r.JobUpstreams,
			m.upstreams()), true
	}
	return "", false
}

// requeue gives a claimed generation back without an attempt, because the engine drains
// or cannot run it. If no engine can, it fails. Work that is left to another engine is due
// again after a lease, so that this one does not claim it without pause.
func (e *Engine) requeue(r imagegen.Record, why string, left bool) {
	ctx, cancel := withoutCancel(context.Background())
	defer cancel()
	var err error
	switch {
	case why == "":
		_, err = e.update(ctx, r.Fence(), imagegen.ReleaseChange{})
	case left:
		e.cfg.Log.Warn("a generation was put back for an engine that can make it, until it reaches its maximum age",
			"generation", r.ID, "model", r.Model, "because", why)
		_, err = e.update(ctx, r.Fence(), imagegen.ReleaseChange{Delay: e.cfg.Attempts.Lease})
	default:
		e.removeEarlierImages(ctx, r)
		err = e.fail(ctx, r, why)
	}
	if err != nil {
		e.cfg.Log.Warn("a claimed generation is left to recovery", "generation", r.ID, "error", err)
	}
}

// maxAged is how many generations that waited too long are claimed in one commit.
const maxAged = 16

// failAged fails generations that waited longer than Config.Attempts.MaxAge, including those of
// models that this engine does not offer.
func (e *Engine) failAged(ctx context.Context) {
	for more := true; more && ctx.Err() == nil; {
		aged, err := e.store.ClaimAged(ctx, e.cfg.Attempts.MaxAge, maxAged, e.cfg.Attempts.Lease)
		e.warn(ctx, err, "the search for work that waited too long failed")
		for _, r := range aged {
			if r.Attempt == 1 {
				e.observeHosted(ctx, r)
			}
			e.requeue(r, waitedTooLong, false)
		}
		more = len(aged) == maxAged
	}
}

// fail ends a generation with the images that were already shown and no more.
func (e *Engine) fail(ctx context.Context, r imagegen.Record, detail string) error {
	got, err := e.finish(ctx, r, imagegen.OutcomeChange{Images: r.Images, At: e.now(), Undelivered: e.callerGone(r),
		Failure: &imagegen.Failure{Class: imagegen.ClassUnknown, Detail: detail}})
	if err != nil {
		return err
	}
	e.warnUndelivered(ctx, got, got.Published, errors.New(detail))
	e.concluded(ctx, got)
	e.uploads.RemoveFiles(r.References)
	return nil
}
