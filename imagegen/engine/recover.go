package engine

import (
	"context"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// maxRecovered is how many records are recovered in one commit.
const maxRecovered = 64

// maxResumptions is how often a saved job is resumed after the process that ran it died,
// since the job may be what kills them. It is counted before the job is resumed.
const maxResumptions = 5

// recoverEvery is how long abandoned work waits at most once its lease has ended.
const recoverEvery = 3 * time.Second

// recoverAbandoned finishes what attempts left behind when they died: those of an earlier
// process, or of this one after a failed write. It calls no provider and needs no slot.
func (e *Engine) recoverAbandoned(ctx context.Context) {
	interval := max(min(e.cfg.Lease/2, recoverEvery), time.Second)
	for ctx.Err() == nil {
		records, err := e.abandoned(ctx)
		if err != nil && ctx.Err() == nil {
			e.cfg.Log.Warn("the search for abandoned work failed", "error", err)
		}
		e.recoverAll(ctx, records)
		if err != nil || len(records) < maxRecovered {
			pause(ctx, interval)
		}
	}
}

// recoverAll recovers records one after the other. It holds the leases of all of them from
// the start, since that may take longer than a lease lasts: another engine would otherwise
// take over those that wait for their turn, and this engine would take them back.
func (e *Engine) recoverAll(ctx context.Context, records []imagegen.Record) {
	for _, r := range records {
		e.leases.hold(r.Fence(), func(error) {})
		defer e.leases.drop(r.Fence())
	}
	for _, r := range records {
		if ctx.Err() != nil { // the rest is recovered elsewhere, or at the next start, when its leases have ended
			return
		}
		if err := e.recoverOne(r); err != nil {
			e.cfg.Log.Warn("a generation could not be recovered and will be tried again", "generation", r.ID, "state", r.State, "error", err)
		}
	}
}

// abandoned leases records that nobody works on. It first prolongs the leases of this
// process, which may have been suspended for longer than they last and must not take its
// own work for abandoned.
func (e *Engine) abandoned(ctx context.Context) ([]imagegen.Record, error) {
	if err := e.prolong(); err != nil {
		return nil, err
	}
	records, err := e.store.Recover(ctx, maxRecovered, e.cfg.Lease)
	if err != nil { // whoever owns such records, it is not this engine
		return nil, err
	}
	return records, nil
}

// recoverOne repeats the step that was not finished. It does not take a context: once begun,
// a step is carried through even if the engine drains.
func (e *Engine) recoverOne(r imagegen.Record) error {
	ctx := context.Background()
	defer e.leases.drop(r.Fence())
	switch r.State {
	case imagegen.StateCharging:
		return e.recoverCharging(ctx, r)
	case imagegen.StateSettling:
		return e.recoverSettling(ctx, r)
	case imagegen.StateErasing:
		return e.purge(ctx, r)
	}
	return e.recoverProcessing(ctx, r)
}

// recoverSettling repeats a settlement whose outcome is recorded.
func (e *Engine) recoverSettling(ctx context.Context, r imagegen.Record) error {
	unheard := e.callerGone(r)
	within, closing := e.begin(ctx, imagegen.EventClosed, r)
	got, err := e.close(within, r)
	closing.end(0, err)
	if err != nil {
		return err
	}
	e.concluded(ctx, got)
	e.uploads.RemoveFiles(got.References)
	if unheard && got.State == imagegen.StateSucceeded {
		e.markDelivery(got, imagegen.Delivery{Undelivered: true})
	}
	return nil
}

// callerGone reports whether the caller of a generation was lost with an earlier process,
// so that an equal call may join.
func (e *Engine) callerGone(r imagegen.Record) bool {
	return r.JoinKey != [32]byte{} && !e.open.has(r.ID)
}

// recoverCharging undoes a charge that may or may not exist. If the ledger refuses to
// release it, the owner sees a failed generation.
func (e *Engine) recoverCharging(ctx context.Context, r imagegen.Record) error {
	err := e.void(ctx, r)
	if imagegen.RefusedForGood(err) {
		var got imagegen.Record
		if got, err = e.dispute(ctx, r, err, nil); err == nil {
			e.concluded(ctx, got)
		}
	}
	if err == nil {
		e.uploads.RemoveFiles(r.References)
	}
	return err
}

// recoverProcessing returns an interrupted attempt to the queue, or fails it: synchronous
// work has lost its caller, and asynchronous work may have used up its tries.
func (e *Engine) recoverProcessing(ctx context.Context, r imagegen.Record) error {
	e.removeEarlierImages(ctx, r)
	lost := r.Job == nil // an upstream job that is resumed costs no try
	hopeless := r.Resumptions >= maxResumptions
	whole := len(r.Images) == r.N
	if !r.Async || whole || lost && r.Failures >= len(e.cfg.Backoff) || hopeless || e.tooOld(r) {
		return e.fail(ctx, r, "the attempt was interrupted")
	}
	again := imagegen.Release{Resumed: true}
	if lost {
		again = imagegen.Release{Delay: e.cfg.Backoff[r.Failures], Failed: true}
	}
	_, err := e.update(ctx, r.Fence(), again)
	return err
}
