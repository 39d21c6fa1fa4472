package engine_test

import (
	"context"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// has shown an image: those that are missing are made, and not refunded.
func TestTriedAgainAfterAnImageWasShown(t *testing.T) {
	eachLedger(t, func(t *testing.T, option func(*engine.Config)) {
		synctest.Test(t, func(t *testing.T) {
			attempts := 0
			p := &scripted{caps: anything,
				do: func(ctx context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage,
					error) bool) {
					switch attempts++; attempts {
					case 1:
						if yield(picture(1024, 1024), nil) {
							<-ctx.Done()
							yield(imagegen.ProviderImage{}, context.Cause(ctx))
						}
					case 2:
						yield(imagegen.ProviderImage{}, transient(2))
					default:
						yield(picture(1056, 1056), nil)
					}
				}}
			h := start(t, p, option)
			id := h.queued(imagegen.GenerateRequest{N: 2}).ID
			time.Sleep(time.Second) // the first image is shown
			h.stopNow(h.engine)
			h.restart()
			g := h.ended(id)
			h.is.Equal(attempts, 3)
			h.is.Equal(len(g.Images), 2)
			h.is.Equal(h.balance(), imagegen.Credits(98))
			h.audit()
		})
	})
}

// lateStore takes hours over one image, after the first so many. It has it by then.
type lateStore struct {
	imagegen.ImageStore
	prompt int
	put    *atomic.Int32
}

func (s lateStore) PutImage(ctx context.Context, k imagegen.ImageKey, r io.Reader) error {
	err := s.ImageStore.PutImage(ctx, k, r)
	if int(s.put.Add(1)) == s.prompt+1 {
		time.Sleep(2 * time.Hour)
	}
	return err
}

// An image that is stored after the watchdog has ended its attempt does not stay; those before it do.
func TestAnImageThatComesAfterTheWatchdog(t *testing.T) {
	for name, prompt := range map[string]int{"the first": 0, "the second": 1} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := start(t, yieldImages(2, nil), func(c *engine.Config) {
					c.Images, c.Spool = lateStore{c.Store.(imagegen.ImageStore), prompt, new(atomic.Int32)},
						c.Store.(imagegen.Spool)
				})
				g, err := h.generate(imagegen.GenerateRequest{N: 2})
				h.is.Equal(err == nil, prompt > 0)
				h.is.Equal(len(g.Images), prompt)
				synctest.Wait() // a probe of this second has removed its image
				h.is.Equal(len(h.db.Images()), prompt+1)
				time.Sleep(3 * time.Hour)
				synctest.Wait()
				h.is.Equal(len(h.db.Images()), prompt)
				h.audit()
			})
		})
	}
}
