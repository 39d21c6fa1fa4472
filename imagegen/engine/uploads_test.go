package engine_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

// Of a user without credits nothing is kept: what was asked before is answered as it was then, and all else
// is refused; whether the files are sound is checked as ever.
func TestUploadsOfWhoCannotPay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var spool imagegentest.CountedSpool
		h := start(t, yieldImages(1, nil), spool.Watch)
		_, err := h.db.Grant(t.Context(), imagegen.Grant{User: bob, Credits: 1})
		h.is.NoErr(err)
		ask := func(key string, bodies ...[]byte) (imagegen.Result, error) {
			q := imagegen.GenerateRequest{IdempotencyKey: key}
			for _, b := range bodies {
				q.References = append(q.References, bytesReference(b))
			}
			return h.engine.As(bob).Generate(t.Context(), fox(q))
		}
		first, err := ask("k", pngOf(30, 30), pngOf(40, 40))
		h.is.NoErr(err)
		synctest.Wait()
		h.is.Equal(spool.Staged(), 2)

		again, err := ask("k", pngOf(30, 30), pngOf(40, 40))
		h.is.NoErr(err)
		h.is.True(again.Replayed && again.ID == first.ID)
		for name, c := range map[string]struct {
			key    string
			bodies [][]byte
			want   error
		}{
			"other files, same key": {"k", [][]byte{pngOf(30, 30), pngOf(41, 41)}, imagegen.ErrIdempotencyKeyReused},
			"another key":           {"l", [][]byte{pngOf(30, 30)}, imagegen.ErrInsufficientCredits},
			"no key":                {"", [][]byte{pngOf(30, 30)}, imagegen.ErrInsufficientCredits},
			"no image":              {"", [][]byte{[]byte("no image")}, imagegen.ErrInvalidRequest},
			"nothing":               {"", [][]byte{{}}, imagegen.ErrInvalidRequest},
			"too many pixels":       {"", [][]byte{claimsPixels(11_000)}, imagegen.ErrInvalidRequest},
			"too large": {"",
				[][]byte{append(bytes.Clone(pngOf(30, 30)), make([]byte, imagegen.MaxReferenceBytes)...)},
				imagegen.ErrInvalidRequest},
		} {
			if _, err := ask(c.key, c.bodies...); !errors.Is(err, c.want) {
				t.Errorf("%s: got %v", name, err)
			}
		}
		h.is.Equal(spool.Staged(), 2) // nothing more went into the spool
	})
}

// Sixteen files of a user come at once, and no more; another user's do too.
func TestUploadsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, yieldImages(1, nil))
		_, err := h.db.Grant(t.Context(), imagegen.Grant{User: bob, Credits: 1})
		h.is.NoErr(err)
		var wg sync.WaitGroup
		hold, end := io.Pipe()
		for range 16 {
			wg.Go(func() {
				_, err := h.engine.As(alice).StageReference(t.Context(), hold, "slow.png")
				if !errors.Is(err, imagegen.ErrInvalidRequest) {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		_, err = h.engine.As(alice).StageReference(t.Context(), readerOf(pngOf(30, 30)), "fox.png")
		h.is.True(isCode(err, imagegen.ErrOverloaded))
		u, err := h.engine.As(bob).StageReference(t.Context(), readerOf(pngOf(30, 30)), "fox.png")
		h.is.NoErr(err)
		imagegen.Discard(u)
		h.is.NoErr(end.Close())
		wg.Wait()
		u, err = h.engine.As(alice).StageReference(t.Context(), readerOf(pngOf(30, 30)), "fox.png")
		h.is.NoErr(err)
		imagegen.Discard(u)
	})
}

// The bytes kept for a user are bounded, while they come and while their generation lasts; and free at the end.
func TestUploadsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		size := int64(len(pngOf(30, 30)))
		release := make(chan struct{})
		h := start(t, &scripted{caps: anything,
			do: func(_ context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
				<-release
				yield(picture(1024, 1024), nil)
			}}, func(c *engine.Config) { c.Limits.MaxSpooled = 3*size + 1 })
		stage := func(u imagegen.UserID) (imagegen.Reference, error) {
			return h.engine.As(u).StageReference(t.Context(), readerOf(pngOf(30, 30)), "fox.png")
		}
		_, err := h.db.Grant(t.Context(), imagegen.Grant{User: bob, Credits: 1})
		h.is.NoErr(err)
		first, err := stage(alice)
		h.is.NoErr(err)
		work := h.queued(imagegen.GenerateRequest{References: []imagegen.Reference{first,
			bytesReference(pngOf(30, 30))}})
		third, err := stage(alice)
		h.is.NoErr(err)
		_, err = stage(alice)
		h.is.True(isCode(err, imagegen.ErrOverloaded))
		others, err := stage(bob)
		h.is.NoErr(err)
		imagegen.Discard(others)

		imagegen.Discard(third)
		imagegen.Discard(third) // counts once
		third, err = stage(alice)
		h.is.NoErr(err)
		_, err = stage(alice)
		h.is.True(isCode(err, imagegen.ErrOverloaded))
		close(release)
		h.ended(work.ID)
		synctest.Wait()
		for range 2 {
			more, err := stage(alice)
			h.is.NoErr(err)
			defer imagegen.Discard(more)
		}
		_, err = stage(alice)
		h.is.True(isCode(err, imagegen.ErrOverloaded))
		_, err = third.Open(t.Context())
		h.is.NoErr(err)
		imagegen.Discard(third)
	})
}

// panicking is a reference that cannot even fail.
type panicking struct{}

func (panicking) Open(context.Context) (io.ReadCloser, error) { panic("no file") }

// A reference that is nil is refused, and one that panics leaves nothing of the others behind.
func TestReferencesOfABrokenCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var spool imagegentest.CountedSpool
		h := start(t, yieldImages(1, nil), spool.Watch)
		sound := bytesReference(pngOf(30, 30))
		_, err := h.generate(imagegen.GenerateRequest{References: []imagegen.Reference{sound, nil}})
		h.is.True(isCode(err, imagegen.ErrInvalidRequest))
		h.is.Equal(err.(*imagegen.Error).Message, "reference image 2 is missing: it is nil")
		func() {
			defer func() { h.is.Equal(recover(), "no file") }()
			h.generate(imagegen.GenerateRequest{References: []imagegen.Reference{sound, panicking{}}})
		}()
		h.is.Equal(spool.Staged(), 2)
		h.is.Equal(spool.Held(), 0)
		h.is.Equal(h.balance(), imagegen.Credits(100))
	})
}
