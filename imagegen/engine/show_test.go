package engine_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// oneByOne yields n pictures that are all different, one each second, and then err.
func oneByOne(n int, err error) *scripted {
	return &scripted{caps: anything,
		do: func(ctx context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
			for i := range n {
				select {
				case <-ctx.Done():
					yield(imagegen.ProviderImage{}, ctx.Err())
					return
				case <-time.After(time.Second):
				}
				if !yield(picture(1024+i, 1024+i), nil) {
					return
				}
			}
			if err != nil {
				yield(imagegen.ProviderImage{}, err)
			}
		}}
}

func idsOf(g imagegen.Generation) (ids []imagegen.ImageID) {
	for _, i := range g.Images {
		ids = append(ids, i.ID)
	}
	return ids
}

// shown waits until a generation of alice's has n images.
func (h *harness) shown(id imagegen.GenerationID, n int) imagegen.Generation {
	h.Helper()
	for range 10_000 {
		g, err := h.engine.As(alice).Generation(h.Context(), id)
		h.is.NoErr(err)
		if len(g.Images) >= n {
			return g
		}
		time.Sleep(10 * time.Millisecond)
	}
	h.Fatal("the images were not shown")
	return imagegen.Generation{}
}

// opens reports whether an image can be read.
func (h *harness) opens(id imagegen.ImageID) bool {
	h.Helper()
	f, err := h.engine.OpenImage(h.Context(), id)
	if errors.Is(err, imagegen.ErrNotFound) {
		return false
	}
	h.is.NoErr(err)
	defer f.Close()
	_, err = io.Copy(io.Discard, f)
	h.is.NoErr(err)
	return true
}

// An image is there as soon as it came, in front of those that follow, and stays.
func TestImagesBeforeTheEnd(t *testing.T) {
	eachLedger(t, func(t *testing.T, option func(*engine.Config)) {
		synctest.Test(t, func(t *testing.T) {
			h := start(t, oneByOne(3, nil), option)
			id := h.queued(imagegen.GenerateRequest{N: 3}).ID
			var seen []imagegen.ImageID
			for n := range 2 {
				g := h.shown(id, n+1)
				h.is.Equal(g.Status, imagegen.StatusProcessing)
				h.is.Equal(len(g.Images), n+1)
				h.is.Equal(g.Credits, imagegen.Credits(0))
				h.is.True(slices.Equal(idsOf(g)[:n], seen))
				seen = idsOf(g)
				h.is.True(h.opens(seen[n]))
			}
			done := h.ended(id)
			h.is.True(slices.Equal(idsOf(done)[:2], seen))
			h.is.Equal(done.Credits, imagegen.Credits(3))
			h.is.Equal(h.balance(), imagegen.Credits(97))
			synctest.Wait()
			h.audit()
		})
	})
}

// The caller of a synchronous call hears of each image, and so does a caller who joins it.
func TestACallerHears(t *testing.T) {
	threeSeconds := func() imagegen.Provider { return oneByOne(3, nil) }
	joining(t, threeSeconds, func(h *joiner) {
		var heard []imagegen.Generation
		three := func(q *imagegen.GenerateRequest) {
			q.N, q.OnProgress = 3, func(g imagegen.Generation) { heard = append(heard, g) }
		}
		_, err := h.call(1500*time.Millisecond, three)
		h.is.True(errors.Is(err, context.DeadlineExceeded))
		h.is.Equal(len(heard), 1)
		done := h.answers(three)
		h.is.True(done.Replayed)
		h.is.Equal(len(heard), 3)
		for i, images := range []int{1, 1, 2} {
			h.is.Equal(heard[i].ID, done.ID)
			h.is.Equal(heard[i].Status, imagegen.StatusProcessing)
			h.is.True(slices.Equal(idsOf(heard[i]), idsOf(done.Generation)[:images]))
		}
	})
}

// An entry costs a commit: one image, and images that come together, cost none.
func TestNoEntryForImagesThatComeTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, n := range []int{1, 4} {
			f := startFaulty(t, yieldImages(4, nil))
			for _, async := range []bool{false, true} {
				_, err := f.generate(imagegen.GenerateRequest{N: n, Async: async})
				f.is.NoErr(err)
				f.settled()
			}
			f.is.Equal(f.count("Show"), 0)
		}
	})
}

// An image may be about to be shown at the very moment at which the work ends: it counts once, whichever comes first.
func TestTheEndMeetsAnImageThatIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, &scripted{caps: anything,
			do: func(_ context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
				if yield(picture(1024, 1024), nil) {
					// as long as an attempt waits for the next image before it shows this one
					time.Sleep(100 * time.Millisecond)
				}
			}})
		for n := range 50 {
			done := h.ended(h.queued(imagegen.GenerateRequest{N: 2}).ID)
			h.is.Equal(len(done.Images), 1)
			h.is.Equal(h.balance(), imagegen.Credits(99-n))
		}
		synctest.Wait()
		h.audit()
	})
}

// Shown images are paid for and stay, whatever ends the work: a synchronous call too.
func TestShownImagesAreKeptByADrain(t *testing.T) {
	for _, async := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			h := start(t, oneByOne(3, nil))
			go h.engine.As(alice).Generate(t.Context(), fox(imagegen.GenerateRequest{N: 3, Async: async}))
			time.Sleep(1500 * time.Millisecond)
			p, err := h.engine.As(alice).Generations(t.Context(), imagegen.Query{})
			h.is.NoErr(err)
			g := p.Generations[0]
			h.is.Equal(len(g.Images), 1)
			stopped, cancel := context.WithCancel(t.Context())
			cancel()
			h.is.NoErr(h.engine.Stop(stopped))
			h.is.True(h.opens(g.Images[0].ID))
			h.restart()
			done := h.ended(g.ID)
			h.is.Equal(done.Status, imagegen.StatusSucceeded)
			h.is.Equal(idsOf(done)[0], g.Images[0].ID)
			h.is.True(h.opens(g.Images[0].ID))
			want := 1
			if async {
				want = 3 // the next attempt made those that were missing, and none twice
			}
			h.is.Equal(len(done.Images), want)
			h.is.Equal(h.balance(), imagegen.Credits(100-want))
			synctest.Wait()
			h.audit()
		})
	}
}

// interrupted is a generation of which a process that died had shown so many images.
func (f *faulty) interrupted(async bool, asked, shown int) imagegen.Record {
	f.Helper()
	f.is.NoErr(f.engine.Stop(f.Context()))
	r := abandoned(1)
	r.N, r.Async, r.Attempt = asked, async, 1
	if async {
		r.Attempt = 0
	}
	r, err := f.db.CreateCharged(f.Context(), r, time.Minute)
	f.is.NoErr(err)
	if async {
		f.update(r.Fence(), imagegen.ClaimChange{})
		r.Attempt = 1
	}
	var images []imagegen.StoredImage
	for range shown {
		b := pngOf(1024, 1024)
		i := imagegen.StoredImage{ID: imagegen.NewImageID(r.ID), Attempt: 1, MediaType: "image/png", Width: 1024,
			Height: 1024, Size: int64(len(b)), SHA256: sha256.Sum256(b), CreatedAt: time.Now()}
		f.is.NoErr(f.db.PutImage(f.Context(), r.ImageKey(i), readerOf(b)))
		images = append(images, i)
	}
	f.update(r.Fence(), imagegen.ShowChange{Images: images})
	r, err = f.db.Generation(f.Context(), r.ID)
	f.is.NoErr(err)
	return r
}

// A process that died leaves what it had shown: synchronous work is settled with it, asynchronous work goes on.
func TestShownImagesAfterACrash(t *testing.T) {
	for name, c := range map[string]struct {
		async              bool
		asked, shown, want int
		provider           imagegen.Provider
	}{
		"synchronous":           {false, 3, 1, 1, yieldImages(3, nil)},
		"asynchronous":          {true, 3, 1, 3, yieldImages(3, nil)},
		"all were shown":        {true, 2, 2, 2, yieldImages(0, errors.New("it must not be asked"))},
		"nothing more comes":    {true, 3, 1, 1, yieldImages(0, errors.New("no"))},
		"it is busy for a time": {true, 3, 2, 2, yieldImages(0, transient(1))},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := startFaulty(t, c.provider)
				left := f.interrupted(c.async, c.asked, c.shown)
				f.restart()
				time.Sleep(10 * time.Minute)
				r := f.settled()[0]
				f.is.Equal(r.State, imagegen.StateSucceeded)
				f.is.Equal(r.Published, c.want)
				f.is.True(slices.EqualFunc(left.Images, r.Images[:c.shown], func(a, b imagegen.StoredImage) bool {
					return a.ID == b.ID
				}))
				f.is.Equal(f.balance(), imagegen.Credits(100-c.want))
				f.audit()
			})
		})
	}
}

// An entry that cannot be written shows nothing and costs nothing: the image is in the outcome.
func TestShowFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startFaulty(t, oneByOne(3, nil))
		f.failBefore(first(1, "Show", imagegen.ErrNotApplied))
		_, err := f.generate(imagegen.GenerateRequest{N: 3})
		f.is.NoErr(err)
		f.is.Equal(f.count("Show"), 2)
		f.is.Equal(f.settled()[0].Published, 3)
		f.audit()
	})
}
