package engine_test

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

// Files that could not be removed are removed later: references of work that has ended, and images
// that are in no outcome.
func TestRemovalIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, f := is.New(t), &faults{}
		var references []imagegen.ProviderReference
		p := &scripted{caps: anything,
			do: func(ctx context.Context, r imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
				references = r.References
				_ = yield(picture(1024, 1024), nil) && yield(imagegen.ProviderImage{}, transient(1))
			}}
		h := start(t, p, f.use)
		var removals atomic.Int32 // of the generation's images
		f.failBefore(failing(first(2, "Remove", errDoubt), func(call string, _ int, by imagegen.Fence) error {
			if call == "RemoveImages" && by.ID == f.put[0].Generation && removals.Add(1) <= 2 {
				return errDoubt
			}
			return nil
		}))
		f.failAfter(func(call string, _ int, by imagegen.Fence) error { // it lies there all the same
			if call == "PutImage" && by.ID == f.put[0].Generation {
				return errDoubt
			}
			return nil
		})
		_, err := h.generate(imagegen.GenerateRequest{N: 2,
			References: []imagegen.Reference{bytesReference(pngOf(30, 30))}})
		is.True(err != nil)
		synctest.Wait()

		there := func() (n int) {
			if i, err := h.db.OpenImage(t.Context(), f.put[0]); err == nil {
				i.Close()
				n++
			}
			if r, err := references[0].Open(t.Context()); err == nil {
				r.Close()
				n++
			}
			return n
		}
		is.Equal(there(), 2)
		time.Sleep(90 * time.Second) // the first repetition fails too
		is.Equal(there(), 2)
		time.Sleep(time.Minute)
		is.Equal(there(), 0)
		is.Equal(f.count("Remove"), 3)
		is.Equal(removals.Load(), int32(3))
		h.audit()
	})
}

// Stop is the last to try.
func TestRemovalIsTriedAgainAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, f := is.New(t), &faults{}
		h := start(t, yieldImages(1, nil), f.use)
		f.failBefore(first(1, "Remove", errDoubt))
		_, err := h.generate(imagegen.GenerateRequest{References: []imagegen.Reference{bytesReference(pngOf(30, 30))}})
		is.NoErr(err)
		synctest.Wait()
		is.NoErr(h.engine.Stop(t.Context()))
		is.Equal(f.count("Remove"), 2)
	})
}

// A reference that was staged at another engine is copied, and does not stay there.
func TestUploadOfAnotherEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, yieldImages(1, nil))
		u, err := h.engine.As(alice).StageReference(t.Context(), bytes.NewReader(pngOf(30, 30)), "fox.png")
		h.is.NoErr(err)
		h.restart()
		_, err = h.generate(imagegen.GenerateRequest{References: []imagegen.Reference{u}})
		h.is.NoErr(err)
		_, err = u.Open(t.Context())
		h.is.True(errors.Is(err, imagegen.ErrNotFound))
	})
}
