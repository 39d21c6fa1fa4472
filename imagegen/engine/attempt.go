package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
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

	// mu guards what follows, down to asked, and showTimer. The provider's images arrive on
	// the goroutine of run; the watchdog and the timer of showSoon have theirs.
	mu            sync.Mutex
	ended         bool
	images        []imagegen.StoredImage // those that former attempts have shown, and this one's
	orphaned      bool                   // files may be stored that are not among images: a write failed. Of run's goroutine alone
	repeatedImage bool                   // an image came that a former attempt has shown: its file is one too many
	asked         int                    // how often the provider reported a member that it asked

	earlier   []imagegen.StoredImage // those that former attempts have shown and that have not come again
	showTimer *time.Timer            // nil: no show is scheduled
	shows     sync.WaitGroup         // shows that are scheduled or being written
}

// run carries the attempt out. base lives as long as the process; limit is how long the
// attempt may take.
//
// Two goroutines can end an attempt: this one, when the provider returns, and a watchdog,
// when the provider has not returned within Config.Grace after its context ended. The
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
	ctx, a.step = e.begin(ctx, imagegen.EventAttempted, a.record)

	returned := make(chan struct{})
	defer context.AfterFunc(ctx, func() {
		select {
		case <-returned:
		case <-time.After(e.cfg.Grace):
			a.conclude(base, context.Cause(ctx))
		}
	})()

	err := errors.New("imagegen: the provider ended its goroutine") // remains so after runtime.Goexit
	defer func() {
		close(returned)
		if !a.conclude(base, err) || a.orphaned {
			a.removeOrphans(base)
		}
		e.slots.Release(a.slot, finding(a.made(), err))
	}()
	e.removeEarlierImages(ctx, a.record)
	err = a.collect(ctx)
	if ended := context.Cause(ctx); ended != nil && a.count() < a.record.N {
		err = ended
	}
}

// collect ranges over the provider's images. A panic of the provider, or of the loop's
// body, becomes an error here.
func (a *attempt) collect(ctx context.Context) (err error) {
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
		err = a.storeImage(ctx, image) // a function of its own: its defers run with each image
		if _, bad := errors.AsType[*badImageError](err); bad {
			broken = err
			continue
		}
		if err != nil {
			return err
		}
		if a.count() == a.record.N { // the provider's surplus is not even asked for
			return nil
		}
	}
	return broken
}

// conclude ends the attempt, and reports whether it did: only the first call does
// anything. Nothing is shown any more before the outcome is written, the outcome is durable
// before the caller hears of it, and the references go only once nobody can need them for
// another attempt.
func (a *attempt) conclude(base context.Context, err error) bool {
	images, first := a.end()
	if !first {
		return false
	}
	a.endShows()
	a.removeRepeated(base)
	made := len(images) - len(a.record.Images)
	a.attempted(made, err)
	a.engine.health.note(a.record.Model, made, err, a.engine.cfg.Now())
	ctx, cancel := withoutCancel(base)
	defer cancel()
	r, err := a.engine.outcome(ctx, a.record, images, err)
	a.answer(r, err)
	if err == nil && r.Terminal() {
		a.engine.uploads.RemoveFiles(r.References)
	}
	a.engine.life.done()
	return true
}

// removeRepeated removes the files of images that came twice. It runs before the outcome
// is written, since recovery does not look at generations that have ended.
func (a *attempt) removeRepeated(base context.Context) {
	a.mu.Lock()
	again := a.repeatedImage
	a.mu.Unlock()
	if again {
		a.removeOrphans(base)
	}
}

// removeOrphans removes what was stored but is not part of the outcome.
func (a *attempt) removeOrphans(base context.Context) {
	a.engine.removeImages(base, a.record.ID, a.record.Attempt, a.names()...)
}

// end marks the attempt as ended and returns its images. first is false if it had already
// ended.
func (a *attempt) end() (images []imagegen.StoredImage, first bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return nil, false
	}
	a.ended = true
	return slices.Clone(a.images), true
}

// add counts a stored image. If the attempt has ended meanwhile, the file is an orphan, and
// run removes it; if an earlier attempt has shown the same image, the file is one too many.
func (a *attempt) add(i imagegen.StoredImage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		a.orphaned = true
		return
	}
	if a.repeated(i) {
		a.repeatedImage = true
		return
	}
	a.images = append(a.images, i)
	a.showSoon()
}

// count is how many images the generation has so far, including those of earlier
// attempts.
func (a *attempt) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.images)
}

// made is how many images this attempt has made.
func (a *attempt) made() int { return a.count() - len(a.record.Images) }

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
	r, err := e.update(ctx, a.record.Fence(), imagegen.Show{Images: images})
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
// so two equal images of one attempt remain two. a.mu is held.
func (a *attempt) repeated(i imagegen.StoredImage) bool {
	n := slices.IndexFunc(a.earlier, func(f imagegen.StoredImage) bool { return f.SHA256 == i.SHA256 })
	if n < 0 {
		return false
	}
	a.earlier = slices.Delete(a.earlier, n, n+1)
	return true
}
