package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// showAfter is how long an attempt waits for the next image before it shows those that it has. An entry costs a
// commit: images that come together need none but that of their settlement, and one image alone never does.
const showAfter = 100 * time.Millisecond

// showSoon has what there is shown, unless more comes first that ends the attempt. a.mu is held.
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

// show makes what there is durable and visible.
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

// endShows lets no more be shown, and waits for what is being written: no entry comes after the outcome.
func (a *attempt) endShows() {
	a.mu.Lock()
	if a.showTimer != nil && a.showTimer.Stop() {
		a.shows.Done()
	}
	a.mu.Unlock()
	a.shows.Wait()
}

// repeated reports whether an image is one that a former attempt has shown: an upstream's job that is resumed, or a
// request that is repeated, yields it again. a.mu is held.
func (a *attempt) repeated(i imagegen.StoredImage) bool {
	n := slices.IndexFunc(a.earlier, func(f imagegen.StoredImage) bool { return f.SHA256 == i.SHA256 })
	if n < 0 {
		return false
	}
	a.earlier = slices.Delete(a.earlier, n, n+1)
	return true
}
