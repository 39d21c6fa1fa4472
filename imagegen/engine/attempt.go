package engine

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine/internal/schedule"
)

// attempt is one try at a generation. It holds a slot, a lease and a place in the
// lifecycle.
type attempt struct {
	engine *Engine
	slot   schedule.Slot
	record imagegen.Record
	model  catalogEntry
	shown  func(imagegen.Record)        // called when images can be seen before the end
	answer func(imagegen.Record, error) // called once, when the outcome is durable or in doubt
	step   step                         // until the provider is through

	consumed consumption

	jobSaved atomic.Bool  // a later attempt can resume the upstream's job
	taken    atomic.Int64 // how many images this attempt has received whole
	orphaned atomic.Bool  // files may be stored that are not among images: a write failed
	asked    atomic.Int64 // how often the provider reported a member that it asked

	// mu guards what follows, down to showTimer. The provider's images arrive on the goroutine of run and are stored
	// on another; the watchdog and the timer of showSoon have theirs.
	mu        sync.Mutex
	ended     bool
	images    []imagegen.StoredImage // those that former attempts have shown, and this one's
	showTimer *time.Timer            // nil: no show is scheduled

	// those that former attempts have shown and that have not come again. Of run's goroutine alone
	earlier []imagegen.StoredImage
	shows   sync.WaitGroup // shows that are scheduled or being written
}

// run carries the attempt out. base lives as long as the process; limit is how long the
// attempt may take.
//
// Two goroutines can end an attempt: this one, when the provider returns, and a watchdog,
// when the provider has not returned within Config.Attempts.Grace after its context ended. The
// first of them decides the outcome. A provider that hangs keeps its slot and this
// goroutine, but not the user.
//
// The context of the provider ends with the time limit, with ErrStopping when Stop waits no
// longer, or with ErrStale when the lease is lost; base itself never ends.
func (a *attempt) run(base context.Context, limit time.Duration) {
	e := a.engine
	a.images, a.earlier = slices.Clone(a.record.Images), slices.Clone(a.record.Images)
	ctx, cancel := context.WithCancelCause(base)
	defer cancel(nil)
	ctx, stop := context.WithTimeoutCause(ctx, limit, errTimeLimit)
	defer stop()
	defer context.AfterFunc(e.life.hard, func() { cancel(imagegen.ErrStopping) })()
	e.leases.hold(a.record.Fence(), cancel)
	defer e.leases.drop(a.record.Fence())
	ctx, a.step = e.beginStep(ctx, imagegen.EventAttempted, a.record)

	returned := make(chan struct{})
	defer context.AfterFunc(ctx, func() {
		select {
		case <-returned:
		case <-time.After(e.cfg.Attempts.Grace):
			a.conclude(base, context.Cause(ctx))
		}
	})()

	err := errors.New("imagegen: the provider ended its goroutine") // remains so after runtime.Goexit
	defer func() {
		close(returned)
		a.conclude(base, err)
		a.removeOrphans(base)
		e.slots.Release(a.slot, finding(a.made(), err))
	}()
	e.removeEarlierImages(ctx, a.record)
	err = a.collect(ctx)
	if ended := context.Cause(ctx); ended != nil && a.imageCount() < a.record.N {
		err = ended
	}
}

// collect ranges over the provider's images, and returns once they are stored. A panic of the
// provider, or of the loop's body, becomes an error here.
func (a *attempt) collect(ctx context.Context) (err error) {
	store, stored := a.storeInOrder()
	defer stored()
	defer func() {
		if v := recover(); v != nil {
			err = &imagegen.ProviderError{Class: imagegen.ClassUnknown, Err: fmt.Errorf("panic: %v", v)}
		}
	}()
	var broken error
	for image, err := range a.model.Provider.Generate(ctx, a.request(ctx)) {
		if err != nil {
			return err
		}
		a.consumed.cameImage()
		within, storing := a.engine.beginStep(ctx, imagegen.EventStored, a.record)
		d, err := a.receiveImage(within, image)
		if err != nil {
			storing.report(1, err)
		}
		if _, bad := errors.AsType[*badImageError](err); bad {
			broken = err
			continue
		}
		if err != nil {
			return err
		}
		i := unstored{within, d, storing}
		if a.repeated(d.sha256) {
			a.taken.Add(-1)
			i.discardAfter(nil)
			continue
		}
		i.makeRoom(ctx)
		store(i)
		if a.enough() { // the provider's surplus is not even asked for
			return nil
		}
	}
	return broken
}

// unstored is an image on its way into the ImageStore.
type unstored struct {
	ctx context.Context
	deliverable
	step step
}

func (i unstored) discardAfter(err error) {
	i.step.report(1, err)
	i.discard()
}

// storeInOrder starts to store images in the order in which store is called. It does not hold up
// the provider: what it has made is taken while a storage fails, as long as there is memory.
// stored waits until all are stored or ctx has ended.
func (a *attempt) storeInOrder() (store func(unstored), stored func()) {
	images := make(chan unstored, a.record.N)
	var all sync.WaitGroup
	all.Go(func() {
		for i := range images {
			i.discardAfter(a.store(i.ctx, i.deliverable))
		}
	})
	return func(i unstored) { images <- i }, func() {
		close(images)
		all.Wait()
	}
}

// conclude ends the attempt, unless it has ended. Nothing is shown any more before the outcome is
// written, the outcome is durable before the caller hears of it, and the references go only once
// nobody can need them for another attempt.
func (a *attempt) conclude(base context.Context, err error) {
	images, lost, first := a.endOnce()
	if !first {
		return
	}
	a.endShows()
	made := len(images) - len(a.record.Images)
	if lost > 0 {
		err = a.lose(base, lost, err)
	}
	cost := a.consumed.cost(a.model, a.record, err)
	a.attempted(made, cost, err)
	a.engine.health.noteAttempt(a.record.Model, made, err, a.engine.cfg.Now())
	ctx, cancel := withoutCancel(base)
	defer cancel()
	r, err := a.engine.outcome(ctx, a.record, images, cost, err)
	a.answer(r, err)
	if err == nil && r.Terminal() {
		a.engine.uploads.RemoveFiles(r.References)
	}
	a.engine.life.workEnded()
}

// lose tells of images that were made and could not be stored before the attempt ended. The
// provider is not called again for them: the caller gets the credits back. If the upstream's job is
// saved, a later process resumes it instead.
func (a *attempt) lose(ctx context.Context, lost int, why error) error {
	if errors.Is(why, imagegen.ErrStale) || errors.Is(why, imagegen.ErrStopping) && a.jobSaved.Load() {
		return why
	}
	err := &imagegen.ProviderError{Class: imagegen.ClassStorage, Message: "images were made and could not be stored",
		Err: fmt.Errorf("%v", why)} // not wrapped: ErrStopping would return the work to the queue
	a.engine.lost(ctx, a.record, lost, err)
	return err
}

// removeOrphans removes what was stored but is not part of the outcome.
func (a *attempt) removeOrphans(base context.Context) {
	if a.orphaned.Load() {
		a.engine.removeImages(base, a.record.ID, a.record.Attempt, a.names()...)
	}
}

// endOnce marks the attempt as ended and returns its images, and how many it has received that are not
// stored. first is false if it had already ended.
func (a *attempt) endOnce() (images []imagegen.StoredImage, lost int, first bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return nil, 0, false
	}
	a.ended = true
	return slices.Clone(a.images), len(a.record.Images) + int(a.taken.Load()) - len(a.images), true
}

// addImage counts a stored image. If the attempt has ended meanwhile, the file is an orphan, and run
// removes it.
func (a *attempt) addImage(i imagegen.StoredImage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		a.orphaned.Store(true)
		return
	}
	a.images = append(a.images, i)
	a.showSoon()
}

// enough reports whether all images have come, including those of earlier attempts.
func (a *attempt) enough() bool { return len(a.record.Images)+int(a.taken.Load()) == a.record.N }

// imageCount is how many images the generation has so far, including those of earlier
// attempts.
func (a *attempt) imageCount() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.images)
}

// made is how many images this attempt has made.
func (a *attempt) made() int { return a.imageCount() - len(a.record.Images) }

// names are the files that must stay: the images so far and their thumbnails.
func (a *attempt) names() []imagegen.ImageID {
	a.mu.Lock()
	defer a.mu.Unlock()
	return files(a.images)
}

// showAfter is how long an attempt waits for the next image before it shows those that it
// has. Showing costs a commit: images that come together need none but that of their
// settlement, and a single image never does.
const showAfter = 100 * time.Millisecond

// showSoon schedules the images to be shown, unless that is already scheduled or all
// images are there. a.mu is held.
func (a *attempt) showSoon() {
	if a.showTimer != nil || len(a.images) == a.record.N {
		return
	}
	a.shows.Add(1)
	a.showTimer = time.AfterFunc(showAfter, func() {
		defer a.shows.Done()
		a.show(context.Background())
	})
}

// show makes the images so far durable and visible. If that fails, they still count for
// the outcome.
func (a *attempt) show(ctx context.Context) {
	a.mu.Lock()
	images, ended := slices.Clone(a.images), a.ended || len(a.images) == a.record.N
	a.showTimer = nil
	a.mu.Unlock()
	if ended {
		return
	}
	e := a.engine
	r, err := e.update(ctx, a.record.Fence(), imagegen.ShowChange{Images: images})
	switch {
	case err == nil:
		a.shown(r)
	case !errors.Is(err, imagegen.ErrStale): // they are there for the outcome all the same
		e.cfg.Log.WarnContext(ctx, "images could not be shown before the end", "generation", a.record.ID, "error", err)
	}
}

// endShows stops further images from being shown and waits for a write that is under way:
// no such write comes after the outcome.
func (a *attempt) endShows() {
	a.mu.Lock()
	if a.showTimer != nil && a.showTimer.Stop() {
		a.shows.Done()
	}
	a.mu.Unlock()
	a.shows.Wait()
}

// repeated reports whether an earlier attempt has already shown this image, byte for byte: a
// resumed upstream job or a repeated request yields it again. Each shown image counts once,
// so two equal images of one attempt remain two.
func (a *attempt) repeated(sum [sha256.Size]byte) bool {
	n := slices.IndexFunc(a.earlier, func(f imagegen.StoredImage) bool { return f.SHA256 == sum })
	if n >= 0 {
		a.earlier = slices.Delete(a.earlier, n, n+1)
		return true
	}
	return false
}
