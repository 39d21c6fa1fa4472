package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// maxRetryAfter bounds how much of a provider's RetryAfter is honoured.
const maxRetryAfter = time.Minute

// outcome decides what the end of an attempt means, and makes that durable: the work returns
// to the queue, or it is settled with these images. An error means that the outcome is in
// doubt or, with ErrStale, another attempt's. While it is in doubt nothing is removed, since
// recovery decides which files belong to the record.
func (e *Engine) outcome(ctx context.Context, r imagegen.Record, images []imagegen.StoredImage,
	cost *imagegen.AttemptCost, err error) (imagegen.Record, error) {
	if release, again := e.tryAgain(r, images, err); again {
		if release.Failed {
			e.cfg.Log.WarnContext(ctx, "an attempt failed and will be made again", "generation", r.ID, "attempt",
				r.Failures+1, "provider", e.catalogs.current.Load().providerNames[r.Model], "after",
				release.Delay.String(), "error", brief(err))
		}
		release.Cost = cost
		return e.release(ctx, r, release)
	}
	o := imagegen.OutcomeChange{Images: images, At: e.now(), Undelivered: e.waiting.Abandoned(r.ID), Cost: cost}
	if len(images) == 0 {
		o.Failure = failure(err)
	}
	if len(images) < r.N {
		e.warnUndelivered(ctx, r, len(images), err)
	}
	got, err := e.finish(ctx, r, o)
	if errors.Is(err, imagegen.ErrStale) {
		return e.stale(ctx, r, got)
	}
	if err != nil { // unknown, or still settling
		e.cfg.Log.ErrorContext(ctx, "the outcome of a generation is in doubt", "generation", r.ID, "error", err)
		return got, err
	}
	e.concluded(ctx, got)
	return got, nil
}

// warnUndelivered logs that fewer images came than were asked for. It counts the attempts by the failures: recovery and
// restarts raise the number of the attempt too.
func (e *Engine) warnUndelivered(ctx context.Context, r imagegen.Record, delivered int, why error) {
	e.cfg.Log.WarnContext(ctx, "images were not delivered", "generation", r.ID, "attempt", r.Failures+1,
		"asked", r.N, "delivered", delivered, "provider", e.catalogs.current.Load().providerNames[r.Model], "error",
		brief(why))
}

// concluded follows the end of a generation: it counts a refusal, wakes those who wait,
// tells the observer and queues the thumbnails.
func (e *Engine) concluded(ctx context.Context, r imagegen.Record) {
	e.refusals.noteOutcome(r, time.Now())
	e.waiting.Ended(r)
	switch {
	case r.State == imagegen.StateFailed && r.Cancelled():
		e.observe(ctx, imagegen.EventCancelled, r, refunded(r))
		return
	case r.State == imagegen.StateFailed:
		e.observe(ctx, imagegen.EventFailed, r, refunded(r))
		return
	}
	e.observe(ctx, imagegen.EventSettled, r, refunded(r))
	if e.cfg.Thumbnails {
		e.thumbnails.Enqueue(r.ID)
	}
}

// refunded is what a settlement gave back. While it is in dispute, the ledger has given
// back nothing.
func refunded(r imagegen.Record) imagegen.Credits {
	if r.Dispute != "" {
		return 0
	}
	return r.Charge().Credits - r.Used()
}

// tryAgain decides whether asynchronous work returns to the queue. A drain is the
// service's own doing: it uses up no try, and the missing images are made later rather
// than refunded. After a transient failure there is another try only if the attempt has made
// no image: a partial result is settled as it is.
func (e *Engine) tryAgain(r imagegen.Record, images []imagegen.StoredImage, err error) (imagegen.ReleaseChange, bool) {
	if !r.Async || err == nil || len(images) >= r.N || e.tooOld(r) {
		return imagegen.ReleaseChange{}, false
	}
	if errors.Is(err, imagegen.ErrStopping) {
		return imagegen.ReleaseChange{}, true
	}
	p, ok := errors.AsType[*imagegen.ProviderError](err)
	if len(images) > len(r.Images) || !ok || !p.Class.Transient() || r.Failures >= len(e.cfg.Attempts.Backoff) {
		return imagegen.ReleaseChange{}, false
	}
	return imagegen.ReleaseChange{Delay: max(e.cfg.Attempts.Backoff[r.Failures], min(p.RetryAfter, maxRetryAfter)),
		Failed: true}, true
}

// tooOld reports whether no further attempt may begin, see Config.Attempts.MaxAge.
func (e *Engine) tooOld(r imagegen.Record) bool { return e.Age(r.CreatedAt) >= e.cfg.Attempts.MaxAge }

// release returns a generation to the queue and removes the images of the attempt that
// nobody has seen.
func (e *Engine) release(ctx context.Context, r imagegen.Record, c imagegen.ReleaseChange) (imagegen.Record, error) {
	got, err := e.update(ctx, r.Fence(), c)
	if err == nil || errors.Is(err, imagegen.ErrStale) {
		e.removeImages(ctx, r.ID, r.Attempt, files(got.Images)...)
	}
	return got, err
}

// stale ends an attempt whose generation another one has taken over. It removes only
// files that the record, as it now is, does not name. If the other attempt has ended the
// generation already, that is this call's answer too.
func (e *Engine) stale(ctx context.Context, r, now imagegen.Record) (imagegen.Record, error) {
	e.removeImages(ctx, r.ID, r.Attempt, files(now.Images)...)
	if now.Terminal() {
		e.waiting.Ended(now)
		return now, nil
	}
	e.waiting.Forget(r.ID)
	return now, imagegen.ErrStale
}

// brief shortens the error of a provider, which can be of any length, for the log.
func brief(err error) string {
	s := fmt.Sprint(err)
	return strings.ToValidUTF8(s[:min(len(s), imagegen.MaxDetail)], "")
}

// failure is what a record stores about the error that ended an attempt without images.
func failure(err error) *imagegen.Failure {
	f := &imagegen.Failure{Class: imagegen.ClassUnknown, Detail: "the provider delivered no image"}
	if err != nil {
		f.Detail = fmt.Sprint(err)
	}
	if p, ok := errors.AsType[*imagegen.ProviderError](err); ok {
		f.Class = p.Class
	}
	if f.Class == imagegen.ClassCancelled { // which no provider can say
		f.Class = imagegen.ClassUnknown
	}
	return f
}
