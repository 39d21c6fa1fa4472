package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

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

// repeated reports whether an earlier attempt has already shown this image: a resumed
// upstream job or a repeated request yields it again. a.mu is held.
func (a *attempt) repeated(i imagegen.StoredImage) bool {
	n := slices.IndexFunc(a.earlier, func(f imagegen.StoredImage) bool { return f.SHA256 == i.SHA256 })
	if n < 0 {
		return false
	}
	a.earlier = slices.Delete(a.earlier, n, n+1)
	return true
}
