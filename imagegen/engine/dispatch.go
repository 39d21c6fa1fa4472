package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine/internal/schedule"
)

// dispatch claims queued work as long as there are slots.
func (e *Engine) dispatch(ctx context.Context) {
	for ctx.Err() == nil {
		wake := e.store.Wake() // before Claim, so that nothing is missed
		offered, err := e.slots.ForQueue(ctx)
		if err != nil {
			return
		}
		offered.Lease = e.cfg.Lease
		records, next, err := e.store.Claim(ctx, offered)
		taken, better := e.slots.Claimed(offered, records)
		for i, r := range records {
			e.launch(r, taken[i])
		}
		if len(records) > 0 {
			continue
		}
		if err != nil && ctx.Err() == nil {
			e.cfg.Log.Warn("queued work could not be claimed", "error", err)
		}
		if err != nil || next <= 0 || next > e.cfg.Lease { // by then the clock may have been set
			next = e.cfg.Lease
		}
		pause(ctx, next, wake, better)
	}
}

// launch begins an attempt at a claimed generation, which holds a slot.
func (e *Engine) launch(r imagegen.Record, held schedule.Slot) {
	e.meet(context.Background(), r.User)
	m, offered := e.offers.now.Load().offers[r.Model]
	unfit := e.unfit(r, m, offered)
	if err := e.life.enter(); err != nil || unfit != "" {
		e.slots.Release(held, schedule.Finding{})
		e.putAside(r, unfit)
		if err == nil {
			e.life.leave()
		}
		return
	}
	if r.Attempt == 1 { // further ones wait by design
		e.observeWait(context.Background(), r, max(e.cfg.Now().Sub(r.CreatedAt), 0), nil)
	}
	a := &attempt{engine: e, slot: held, record: r, offer: m,
		shown: func(imagegen.Record) {}, answer: func(imagegen.Record, error) {}}
	go a.run(context.Background(), e.cfg.AttemptTimeout)
}

// unfit tells why no attempt at a claimed generation can begin, now or later; "" if one can.
func (e *Engine) unfit(r imagegen.Record, m offer, offered bool) string {
	switch {
	case !offered:
		return "the model is no longer offered"
	case e.tooOld(r):
		return "it waited beyond its maximum age"
	case !m.resumes(r): // which may have made it, and would make it again
		return fmt.Sprintf("its upstream job was saved by %q, and the model is made by %q now", r.JobUpstreams, m.upstreams())
	}
	return ""
}

// putAside ends a claim that cannot be worked on: it is unfit, or the engine drains.
func (e *Engine) putAside(r imagegen.Record, unfit string) {
	ctx, cancel := detach(context.Background())
	defer cancel()
	var err error
	if unfit == "" {
		_, err = e.update(ctx, r.Fence(), imagegen.Release{})
	} else {
		e.removeFormerImages(ctx, r)
		err = e.fail(ctx, r, unfit)
	}
	if err != nil {
		e.cfg.Log.Warn("a claimed generation is left to recovery", "generation", r.ID, "error", err)
	}
}

// fail ends a generation with no more images than were shown.
func (e *Engine) fail(ctx context.Context, r imagegen.Record, detail string) error {
	got, err := e.finish(ctx, r, imagegen.Outcome{Images: r.Images, At: e.now(), Undelivered: e.unheard(r),
		Failure: &imagegen.Failure{Class: imagegen.ClassUnknown, Detail: detail}})
	if err != nil {
		return err
	}
	e.warnUndelivered(ctx, got, got.Published, errors.New(detail))
	e.concluded(ctx, got)
	e.uploads.RemoveFiles(r.References)
	return nil
}

// pause waits for a time, or until woken, by up to two, or told to end.
func pause(ctx context.Context, d time.Duration, wakes ...<-chan struct{}) {
	var wake [2]<-chan struct{}
	copy(wake[:], wakes)
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-wake[0]:
	case <-wake[1]:
	case <-t.C:
	case <-ctx.Done():
	}
}
