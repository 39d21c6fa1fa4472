package engine_test

import (
	"bytes"
	"context"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

// rottenSpool alters a byte of what is opened, once it is rotten. One that does not seek has every
// reader open again.
type rottenSpool struct {
	imagegen.Spool
	rotten *atomic.Bool
	seeks  bool
}

func (s rottenSpool) Open(ctx context.Context, id imagegen.ReferenceID) (io.ReadCloser, error) {
	f, err := s.Spool.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(f)
	if s.rotten.Load() {
		b[len(b)/2] ^= 1
	}
	if s.seeks {
		return seekable{bytes.NewReader(b)}, err
	}
	return io.NopCloser(bytes.NewReader(b)), err
}

type seekable struct{ *bytes.Reader }

func (seekable) Close() error { return nil }

type unmoved []byte

func (s unmoved) Open(context.Context) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(s)), nil
}

// A provider reads what was accepted, or nothing; then the work fails and is refunded.
func TestAReferenceThatIsDamaged(t *testing.T) {
	for _, async := range []bool{false, true} {
		for _, seeks := range []bool{false, true} {
			for _, rots := range []bool{false, true} {
				synctest.Test(t, func(t *testing.T) {
					rotten := new(atomic.Bool)
					var read []byte
					h := start(t, &scripted{caps: anything,
						do: func(ctx context.Context, r imagegen.ProviderRequest, yield func(imagegen.ProviderImage,
							error) bool) {
							rotten.Store(rots)
							f, err := r.References[0].Open(ctx)
							if err != nil {
								yield(imagegen.ProviderImage{}, err)
								return
							}
							defer f.Close()
							read, _ = io.ReadAll(f)
							yield(picture(1024, 1024), nil)
						}}, func(c *engine.Config) {
						c.Images, c.Spool = c.Store.(imagegen.ImageStore), rottenSpool{c.Store.(imagegen.Spool), rotten,
							seeks}
					})
					g, err := h.generate(imagegen.GenerateRequest{Async: async,
						References: []imagegen.Reference{unmoved(pngOf(40, 30))}})
					if rots {
						h.is.True(async || isCode(err, imagegen.ErrGenerationFailed))
						if async {
							h.is.Equal(h.ended(g.ID).Status, imagegen.StatusFailed)
						}
						h.is.Equal(len(read), 0)
						h.is.Equal(h.balance(), imagegen.Credits(100))
						return
					}
					h.is.NoErr(err)
					h.is.Equal(h.ended(g.ID).Status, imagegen.StatusSucceeded)
					h.is.True(bytes.Equal(read, pngOf(40, 30)))
				})
			}
		}
	}
}

// doubtfulSpool keeps what is staged, and fails all the same.
type doubtfulSpool struct{ imagegen.Spool }

func (s doubtfulSpool) Stage(ctx context.Context, id imagegen.ReferenceID, r io.Reader) error {
	if err := s.Spool.Stage(ctx, id, r); err != nil {
		return err
	}
	return errDoubt
}

// What a Spool may have kept although it failed is removed, since nothing names it. An image of a
// provider stays in memory then.
func TestASpoolThatKeepsWhatFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var spool imagegentest.CountedSpool
		large := append(pngOf(1024, 1024), make([]byte, 5<<20)...)
		h := start(t, yieldBytes(large), spool.Watch, func(c *engine.Config) {
			c.Spool = doubtfulSpool{c.Spool}
			c.Models[0].Verify = imagegen.VerifyDecode
		})
		_, err := h.generate(imagegen.GenerateRequest{References: []imagegen.Reference{unmoved(pngOf(30, 30))}})
		h.is.True(isCode(err, imagegen.ErrOverloaded))
		h.is.Equal(spool.Staged(), 1)
		h.is.Equal(spool.Held(), 0)

		_, err = h.generate(imagegen.GenerateRequest{})
		h.is.NoErr(err)
		h.is.Equal(spool.Staged(), 2)
		h.is.Equal(spool.Held(), 0)
	})
}
