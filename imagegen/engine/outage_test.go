package engine_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// largePNG is a picture whose file has some more bytes than size.
func largePNG(size int) []byte {
	return joined(slices.Insert(chunks(pngOf(1024, 1024)), 3, chunk("tEXt", make([]byte, size)...))...)
}

// notedWhole calls whole when a file was read to its end.
func notedWhole(file []byte, whole func()) imagegen.ProviderImage {
	body := bytes.NewReader(file)
	return imagegen.ProviderImage{Body: readerFunc(func(b []byte) (int, error) {
		n, err := body.Read(b)
		if err == io.EOF {
			whole()
		}
		return n, err
	})}
}

// slowLine is an ImageStore behind a line of so many bytes a second. It works, but for the first puts.
type slowLine struct {
	imagegen.ImageStore
	rate  int
	fails *atomic.Int32
}

func (s slowLine) PutImage(ctx context.Context, k imagegen.ImageKey, r io.Reader) error {
	b, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if s.fails.Add(-1) >= 0 {
		return errDoubt
	}
	select {
	case <-time.After(time.Duration(len(b)) * time.Second / time.Duration(s.rate)):
	case <-ctx.Done():
		return ctx.Err()
	}
	return s.ImageStore.PutImage(ctx, k, bytes.NewReader(b))
}

// A large image on a slow line, or one whose put has failed once, stops nobody's work: the storage works.
func TestLargeImageOnASlowLine(t *testing.T) {
	for name, c := range map[string]struct {
		size  int
		fails int32
	}{"slow": {27 << 20, 0}, "failed once": {13 << 20, 1}} {
		t.Run(name, func(t *testing.T) {
			large := largePNG(c.size)
			synctest.Test(t, func(t *testing.T) {
				var calls, fails atomic.Int32
				fails.Store(c.fails)
				p := &scripted{caps: anything,
					do: func(_ context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage,
						error) bool) {
						if calls.Add(1) == 1 {
							yield(imagegen.ProviderImage{Body: bytes.NewReader(large)}, nil)
							return
						}
						yield(picture(1024, 1024), nil)
					}}
				h := start(t, p.verified(imagegen.VerifyStructure), func(c *engine.Config) {
					c.Images, c.Spool = slowLine{c.Store.(imagegen.ImageStore), 6 << 20, &fails},
						c.Store.(imagegen.Spool)
				})
				first := h.queued(imagegen.GenerateRequest{})
				time.Sleep(5 * time.Second)
				h.is.Equal(len(h.reasons()), 0)
				_, err := h.generate(imagegen.GenerateRequest{})
				h.is.NoErr(err)
				h.is.Equal(h.ended(first.ID).Status, imagegen.StatusSucceeded)
				h.audit()
			})
		})
	}
}

// Images that come at their own times find the memory full of images that wait to be stored. These make room in the
// spool, so that every answer is received.
func TestImagesMakeRoomInTheSpool(t *testing.T) {
	const calls, images = 64, 4
	large := largePNG(2<<20 - 3000)
	var whole atomic.Int32
	synctest.Test(t, func(t *testing.T) {
		var turn atomic.Int32
		answer := make(chan struct{})
		p := &scripted{caps: anything,
			do: func(_ context.Context, r imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
				<-answer
				first := time.Duration(turn.Add(1))
				for range r.N {
					time.Sleep(first * 70 * time.Millisecond)
					wanted := yield(imagegen.ProviderImage{Body: bytes.NewReader(large)}, nil)
					whole.Add(1)
					if !wanted {
						return
					}
				}
			}}
		h, store := startAway(t, p.verified(imagegen.VerifyStructure), func(c *engine.Config) {
			c.Limits.Concurrency = calls
		})
		_, err := h.db.Grant(t.Context(), imagegen.Grant{User: alice, Credits: calls * images})
		h.is.NoErr(err)
		var all sync.WaitGroup
		for range calls {
			all.Go(func() {
				if _, err := h.generate(imagegen.GenerateRequest{N: images}); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		store.begin(outage{err: errDoubt})
		close(answer)
		time.Sleep(time.Minute)
		h.is.Equal(whole.Load(), int32(calls*images))
		store.end()
		all.Wait()
		h.audit()
	})
}

// An image counts as made once it was received, also while it waits to be converted: what ends then is counted as lost,
// of the class of the storage, and its upstream is not called again.
func TestImagesThatWaitToBeConvertedAreCounted(t *testing.T) {
	for name, stop := range map[string]bool{"time limit": false, "stop": true} {
		t.Run(name, func(t *testing.T) {
			const calls = 64
			large := largePNG(7 << 19)
			synctest.Test(t, func(t *testing.T) {
				var lost, made, whole atomic.Int32
				p := &scripted{caps: anything,
					do: func(_ context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage,
						error) bool) {
						time.Sleep(time.Duration(made.Add(1)) * 100 * time.Millisecond)
						yield(notedWhole(large, func() { whole.Add(1) }), nil)
					}}
				h, store := startAway(t, p.verified(imagegen.VerifyDecode), func(c *engine.Config) {
					c.Observer, c.Limits.Concurrency = countingLost{&lost}, calls
				})
				var ids []imagegen.GenerationID
				for range calls {
					ids = append(ids, h.queued(imagegen.GenerateRequest{}).ID)
				}
				synctest.Wait()
				store.begin(outage{err: errDoubt, spool: true})
				time.Sleep(time.Minute)
				received := whole.Load()
				if stop {
					ended, cancel := context.WithCancel(t.Context())
					cancel()
					h.is.NoErr(h.engine.Stop(ended))
					store.end()
				} else {
					time.Sleep(20 * time.Minute)
					store.end()
				}
				h.is.True(received > 0)
				h.is.Equal(lost.Load(), received)
				h.is.Equal(made.Load(), int32(calls))
				if !stop {
					for _, id := range ids {
						h.ended(id)
					}
					h.audit()
				}
			})
		})
	}
}

// An image that waits in the spool to be decoded is read again if the spool cannot be read: it is not the image's
// fault.
func TestSpoolThatFailsWhileAnImageIsDecoded(t *testing.T) {
	large := largePNG(5 << 20)
	synctest.Test(t, func(t *testing.T) {
		var calls, opened atomic.Int32
		p := yieldBytes(large).verified(imagegen.VerifyDecode)
		do := p.do
		p.do = func(ctx context.Context, r imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
			calls.Add(1)
			do(ctx, r, yield)
		}
		h := start(t, p, func(c *engine.Config) {
			c.Images = c.Store.(imagegen.ImageStore)
			c.Spool = readSpool{c.Store.(imagegen.Spool), func(context.Context) error {
				if opened.Add(1) == 1 {
					return errors.New("too many open files")
				}
				return nil
			}}
		})
		_, err := h.generate(imagegen.GenerateRequest{})
		h.is.NoErr(err)
		h.is.Equal(calls.Load(), int32(1))
		h.is.True(h.engine.Health()[0].Healthy)
		h.audit()
	})
}
