package engine_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

func TestSynchronousSuccess(t *testing.T) {
	eachLedger(t, func(t *testing.T, option func(*engine.Config)) {
		synctest.Test(t, func(t *testing.T) {
			h := start(t, yieldImages(2, nil), option)
			got, err := h.generate(imagegen.GenerateRequest{N: 2, Quality: "low"})
			h.is.NoErr(err)
			h.is.Equal(got.Status, imagegen.StatusSucceeded)
			h.is.Equal(len(got.Images), 2)
			h.is.Equal(got.Credits, imagegen.Credits(2))
			h.is.Equal(got.CreditsRequested, imagegen.Credits(2))
			h.is.Equal(got.Tier, imagegen.Tier1K)
			h.is.Equal(*got.Balance, imagegen.Balance{Credits: 98, AccountType: "FREE"})
			h.is.Equal(h.balance(), imagegen.Credits(98))

			again, err := h.engine.As(alice).Generation(t.Context(), got.ID)
			h.is.NoErr(err)
			h.is.Equal(cmp.Diff(got.Generation, again), "")
			for _, i := range got.Images {
				f, err := h.engine.OpenImage(t.Context(), i.ID)
				h.is.NoErr(err)
				b, err := io.ReadAll(f)
				h.is.NoErr(err)
				h.is.NoErr(f.Close())
				h.is.True(bytes.Equal(b, pngOf(1024, 1024))) // stored as it came
				h.is.Equal(f.Size, int64(len(b)))
				h.is.Equal(f.MediaType, "image/png")
			}
			h.audit()
		})
	})
}

// The cases are what a provider may do, and what the caller gets and pays.
func TestProviderOutcomes(t *testing.T) {
	refused := &imagegen.ProviderError{Class: imagegen.ClassRefused, Message: "secret reason",
		Err: errors.New("upstream trace")}
	body := func(b []byte) imagegen.ProviderImage { return imagegen.ProviderImage{Body: bytes.NewReader(b)} }
	yields := func(images ...imagegen.ProviderImage) *scripted {
		return &scripted{caps: anything,
			do: func(_ context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
				for _, i := range images {
					if !yield(i, nil) {
						return
					}
				}
			}}
	}
	does := func(f func()) *scripted {
		return &scripted{caps: anything,
			do: func(_ context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
				if yield(picture(1024, 1024), nil) {
					f()
				}
			}}
	}
	for name, c := range map[string]struct {
		provider *scripted
		request  imagegen.GenerateRequest
		images   int // 0: generationFailed
		credits  imagegen.Credits
	}{
		"all":                {yieldImages(3, nil), imagegen.GenerateRequest{N: 3}, 3, 3},
		"surplus":            {yieldImages(9, nil), imagegen.GenerateRequest{N: 2}, 2, 2},
		"fewer":              {yieldImages(1, nil), imagegen.GenerateRequest{N: 4}, 1, 1},
		"two, then an error": {yieldImages(2, errors.New("gone")), imagegen.GenerateRequest{N: 4}, 2, 2},
		"none":               {yieldImages(0, nil), imagegen.GenerateRequest{N: 2}, 0, 0},
		"an error":           {yieldImages(0, errors.New("gone")), imagegen.GenerateRequest{}, 0, 0},
		"refused":            {yieldImages(0, refused), imagegen.GenerateRequest{}, 0, 0},
		"one, then a panic":  {does(func() { panic("boom") }), imagegen.GenerateRequest{N: 2}, 1, 1},
		"one, then Goexit":   {does(runtime.Goexit), imagegen.GenerateRequest{N: 2}, 1, 1},
		"no image":           {yields(body([]byte("hello"))), imagegen.GenerateRequest{}, 0, 0},
		"no body":            {yields(imagegen.ProviderImage{}), imagegen.GenerateRequest{}, 0, 0},
		"cut short":          {yields(body(pngOf(1024, 1024)[:200])), imagegen.GenerateRequest{}, 0, 0},
		"a bad one among good": {yields(picture(1024, 1024), body(nil), picture(1024, 1024)),
			imagegen.GenerateRequest{N: 3}, 2, 2},
		"another ratio": {yields(picture(1024, 700)), imagegen.GenerateRequest{Size: imagegen.Size{Width: 1024,
			Height: 1024}}, 0, 0},
		"2 % off the ratio": {yields(picture(1045, 1024)),
			imagegen.GenerateRequest{Size: imagegen.Size{Width: 1024, Height: 1024}}, 0, 0},
		"a tier too low":  {yields(picture(1024, 1024)), imagegen.GenerateRequest{Quality: "medium"}, 0, 0},
		"a tier too high": {yields(picture(2048, 2048)), imagegen.GenerateRequest{Quality: "low"}, 1, 1},
		"exact": {yields(picture(640, 640)), imagegen.GenerateRequest{Size: imagegen.Size{Width: 640,
			Height: 640}}, 1, 1},
		"larger, to be scaled": {yields(picture(1024, 1024)), imagegen.GenerateRequest{Size: imagegen.Size{Width: 500,
			Height: 500}}, 1, 1},
		"larger, to be cropped": {yields(picture(1920, 1088)),
			imagegen.GenerateRequest{Size: imagegen.Size{Width: 1920, Height: 1080}}, 1, 2},
		"smaller, not scaled up": {yields(picture(1000, 1000)),
			imagegen.GenerateRequest{Size: imagegen.Size{Width: 1024, Height: 1024}}, 0, 0},
		"too large to decode": {yields(body(claimsPixels(100_000))), imagegen.GenerateRequest{}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := start(t, c.provider)
				got, err := h.generate(c.request)
				if c.images == 0 {
					failure, ok := errors.AsType[*imagegen.Error](err)
					h.is.True(ok)
					h.is.True(errors.Is(err, imagegen.ErrGenerationFailed))
					h.is.True(!strings.Contains(failure.Message, "secret") && !strings.Contains(failure.Message,
						"upstream"))
					kept, err := h.engine.As(alice).Generation(t.Context(), failure.Generation)
					h.is.NoErr(err)
					h.is.Equal(kept.Status, imagegen.StatusFailed)
					h.is.Equal(kept.Credits, imagegen.Credits(0))
				} else {
					h.is.NoErr(err)
					h.is.Equal(len(got.Images), c.images)
					h.is.Equal(got.Credits, c.credits)
					h.isExact(got, c.request.Size)
				}
				h.is.Equal(h.balance(), 100-c.credits)
				synctest.Wait()
				h.audit()
			})
		})
	}
}

// isExact decodes what was stored where an explicit size was asked for.
func (h *harness) isExact(got imagegen.Result, size imagegen.Size) {
	h.Helper()
	if size.Auto() {
		return
	}
	for _, i := range got.Images {
		f, err := h.engine.OpenImage(h.Context(), i.ID)
		h.is.NoErr(err)
		defer f.Close()
		c, _, err := image.DecodeConfig(f)
		h.is.NoErr(err)
		h.is.Equal(imagegen.Size{Width: c.Width, Height: c.Height}, size)
		h.is.Equal(imagegen.Size{Width: i.Width, Height: i.Height}, size)
	}
}

// claimsPixels is a PNG whose header claims n × n pixels.
func claimsPixels(n uint32) []byte {
	b := bytes.Clone(pngOf(16, 16))
	for _, at := range []int{16, 20} {
		b[at], b[at+1], b[at+2], b[at+3] = byte(n>>24), byte(n>>16), byte(n>>8), byte(n)
	}
	return b
}

func TestTimeLimit(t *testing.T) {
	for name, heeds := range map[string]bool{"heeded": true, "ignored": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				h := start(t, &scripted{caps: anything,
					do: func(ctx context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage,
						error) bool) {
						if !yield(picture(1024, 1024), nil) {
							return
						}
						if heeds {
							<-ctx.Done()
						} else {
							<-release
							yield(picture(1024, 1024), nil) // too late: nobody wants it
						}
					}})
				began := time.Now()
				got, err := h.generate(imagegen.GenerateRequest{N: 2})
				h.is.NoErr(err)
				h.is.Equal(len(got.Images), 1) // what was there in time
				want := 800 * time.Second
				if !heeds {
					want += 10 * time.Second
				}
				h.is.Equal(time.Since(began), want)
				h.is.Equal(h.balance(), imagegen.Credits(99))
				close(release)
				synctest.Wait()
				h.audit()
			})
		})
	}
}

func TestCallerWhoHangsUp(t *testing.T) {
	t.Run("before the charge", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			hold := make(chan struct{})
			h := start(t, &scripted{caps: anything,
				do: func(context.Context, imagegen.ProviderRequest, func(imagegen.ProviderImage, error) bool) {
					<-hold
				}},
				func(c *engine.Config) { c.Limits.Concurrency = 1 })
			go h.engine.As(alice).Generate(context.Background(), fox(imagegen.GenerateRequest{}))
			synctest.Wait()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := h.engine.As(alice).Generate(ctx, fox(imagegen.GenerateRequest{}))
			h.is.Equal(err, context.DeadlineExceeded)
			h.is.Equal(h.balance(), imagegen.Credits(99)) // the first one's
			close(hold)
			synctest.Wait()
			h.is.Equal(h.balance(), imagegen.Credits(100))
			h.audit()
		})
	})
	t.Run("after the charge", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := start(t, &scripted{caps: anything,
				do: func(ctx context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage,
					error) bool) {
					time.Sleep(time.Minute)
					yield(picture(1024, 1024), ctx.Err())
				}})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			q := fox(imagegen.GenerateRequest{IdempotencyKey: "k"})
			_, err := h.engine.As(alice).Generate(ctx, q)
			h.is.Equal(err, context.DeadlineExceeded)
			got, err := h.generate(q) // which waits for the answer of the first
			h.is.NoErr(err)
			h.is.True(got.Replayed)
			h.is.Equal(len(got.Images), 1)
			h.is.Equal(h.balance(), imagegen.Credits(99))
		})
	})
}

func TestWaitForASlotIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		h := start(t, &scripted{caps: anything,
			do: func(context.Context, imagegen.ProviderRequest, func(imagegen.ProviderImage, error) bool) { <-hold }},
			func(c *engine.Config) { c.Limits.Concurrency = 2 })
		for range 2 {
			go h.engine.As(bob).Generate(context.Background(), fox(imagegen.GenerateRequest{}))
		}
		_, err := h.db.Grant(t.Context(), imagegen.Grant{User: bob, Credits: 2})
		h.is.NoErr(err)
		for range 2 {
			go h.engine.As(bob).Generate(context.Background(), fox(imagegen.GenerateRequest{}))
		}
		synctest.Wait()
		began := time.Now()
		_, err = h.generate(imagegen.GenerateRequest{})
		h.is.True(isCode(err, imagegen.ErrOverloaded))
		h.is.Equal(time.Since(began), 30*time.Second)
		h.is.Equal(h.balance(), imagegen.Credits(100))
		close(hold)
	})
}

func TestQueueIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		h := start(t, &scripted{caps: anything,
			do: func(context.Context, imagegen.ProviderRequest, func(imagegen.ProviderImage, error) bool) { <-hold }},
			func(c *engine.Config) { c.Limits.Concurrency, c.Limits.MaxQueued = 1, 3 })
		for range 4 { // one under way, three queued
			_, err := h.generate(imagegen.GenerateRequest{Async: true})
			h.is.NoErr(err)
			synctest.Wait()
		}
		_, err := h.generate(imagegen.GenerateRequest{Async: true})
		h.is.True(isCode(err, imagegen.ErrOverloaded))
		h.is.Equal(h.balance(), imagegen.Credits(96))
		close(hold)
		time.Sleep(time.Minute)
		synctest.Wait()
		h.is.Equal(h.balance(), imagegen.Credits(100))
	})
}

func TestAdmissionAndObserver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var events []imagegen.EventKind
		var asked engine.Admission
		refuse := true
		h := start(t, yieldImages(1, nil), func(c *engine.Config) {
			c.Observer = imagegen.ObserverFunc(func(_ context.Context, e imagegen.Event) {
				events = append(events, e.Kind)
				is.New(t).Equal(e.Generation.Prompt, "")
			})
			c.Admit = func(_ context.Context, a engine.Admission) error {
				asked = a
				if refuse {
					return imagegen.Invalid("no foxes today")
				}
				return nil
			}
		})
		_, err := h.generate(imagegen.GenerateRequest{N: 2,
			References: []imagegen.Reference{bytesReference(pngOf(64, 64))}})
		h.is.True(isCode(err, imagegen.ErrInvalidRequest))
		h.is.True(strings.Contains(err.Error(), "no foxes today"))
		h.is.Equal(asked.Credits, imagegen.Credits(2))
		h.is.Equal(asked.References[0].Width, 64)
		h.is.Equal(h.balance(), imagegen.Credits(100))
		h.is.Equal(len(events), 0)

		refuse = false
		_, err = h.generate(imagegen.GenerateRequest{N: 2})
		h.is.NoErr(err)
		h.engine.As(alice).Generate(t.Context(), fox(imagegen.GenerateRequest{Quality: "high"}))
		h.is.Equal(events, []imagegen.EventKind{imagegen.EventAccepted, imagegen.EventSettled, imagegen.EventAccepted,
			imagegen.EventFailed})
	})
}
