package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// awayStore is an ImageStore and a Spool that can be away: with an error, or without any answer.
type awayStore struct {
	imagegen.ImageStore
	imagegen.Spool
	away atomic.Pointer[outage]
}

// outage is one time for which a storage is away.
type outage struct {
	err    error         // nil: calls hang
	over   chan struct{} // closed at its end
	spool  bool          // that it concerns too
	images bool          // that it does not concern
}

func (s *awayStore) begin(o outage) {
	o.over = make(chan struct{})
	s.away.Store(&o)
}

func (s *awayStore) end() { close(s.away.Swap(nil).over) }

// answers waits for the end of an outage, or returns its error.
func (s *awayStore) answers(ctx context.Context) error {
	o := s.away.Load()
	switch {
	case o == nil || o.images:
		return nil
	case o.err != nil:
		return o.err
	}
	select {
	case <-o.over:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *awayStore) PutImage(ctx context.Context, k imagegen.ImageKey, r io.Reader) error {
	if err := s.answers(ctx); err != nil {
		return err
	}
	return s.ImageStore.PutImage(ctx, k, r)
}

func (s *awayStore) RemoveImages(ctx context.Context, g imagegen.GenerationID, attempt int,
	keep ...imagegen.ImageID) error {
	if err := s.answers(ctx); err != nil {
		return err
	}
	return s.ImageStore.RemoveImages(ctx, g, attempt, keep...)
}

func (s *awayStore) Stage(ctx context.Context, id imagegen.ReferenceID, r io.Reader) error {
	if o := s.away.Load(); o != nil && o.spool {
		return o.err
	}
	return s.Spool.Stage(ctx, id, r)
}

// counted counts the calls of a provider and its answers that were read whole.
type counted struct {
	calls, whole atomic.Int32
	answer       chan struct{} // nil: at once
}

// answering yields as many images as are asked for, all in one answer.
func (c *counted) answering() *scripted {
	return &scripted{caps: anything,
		do: func(_ context.Context, r imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
			c.calls.Add(1)
			if c.answer != nil {
				<-c.answer
			}
			for range r.N {
				if !yield(picture(1024, 1024), nil) {
					break
				}
			}
			c.whole.Add(1)
		}}
}

func startAway(t *testing.T, p imagegen.Provider, change ...func(*engine.Config)) (*harness, *awayStore) {
	s := &awayStore{}
	h := start(t, p, append([]func(*engine.Config){func(c *engine.Config) {
		s.ImageStore, s.Spool = c.Store.(imagegen.ImageStore), c.Store.(imagegen.Spool)
		c.Images, c.Spool = s, s
	}}, change...)...)
	return h, s
}

// reasons are the codes of the reasons that the engine takes no work.
func (h *harness) reasons() (codes []string) {
	for _, n := range h.engine.Readiness(h.Context()).Reasons {
		codes = append(codes, n.Code)
	}
	return codes
}

// While images cannot be stored, what was made is kept and stored later, no upstream is called
// again, readiness says it, and new calls are refused before the charge.
func TestImagesAreKeptWhileTheStoreIsAway(t *testing.T) {
	full := fmt.Errorf("%w: %w", imagegen.ErrNotApplied, &imagegen.NotReadyError{Code: "disk",
		Err: errors.New("the disk is full")})
	for name, test := range map[string]struct {
		outage outage
		reason string
	}{
		"refuses":       {outage{err: imagegen.ErrNotApplied}, "images"},
		"is in doubt":   {outage{err: errDoubt}, "images"},
		"is full":       {outage{err: full, spool: true}, "disk"},
		"says nothing":  {outage{}, "images"},
		"loses its key": {outage{err: imagegen.ErrNotFound}, "images"},
	} {
		for _, async := range []bool{false, true} {
			t.Run(fmt.Sprint(name, async), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { testAway(t, test.outage, test.reason, async) })
			})
		}
	}
}

func testAway(t *testing.T, o outage, reason string, async bool) {
	made := counted{answer: make(chan struct{})}
	h, store := startAway(t, made.answering())
	const calls, n = 20, 4
	var all sync.WaitGroup
	for range calls {
		all.Go(func() {
			r, err := h.generate(imagegen.GenerateRequest{N: n, Async: async})
			if err == nil && async {
				r.Generation = h.ended(r.Generation.ID)
			}
			if err != nil || len(r.Images) != n {
				t.Errorf("%d images, %v", len(r.Images), err)
			}
		})
	}
	synctest.Wait() // all are under way
	store.begin(o)
	close(made.answer)
	time.Sleep(5 * time.Second)
	h.is.Equal(h.reasons(), []string{reason})
	h.is.Equal(made.whole.Load(), int32(calls)) // each answer was taken whole
	before := h.balance()
	_, err := h.generate(imagegen.GenerateRequest{})
	h.is.True(isCode(err, imagegen.ErrOverloaded))
	_, err = h.generate(imagegen.GenerateRequest{Async: true})
	h.is.True(isCode(err, imagegen.ErrOverloaded))
	h.is.Equal(h.balance(), before)
	time.Sleep(35 * time.Second)
	h.is.Equal(h.reasons(), []string{reason})
	store.end()
	time.Sleep(5 * time.Second)
	h.is.Equal(h.reasons(), nil)
	all.Wait()
	h.is.Equal(made.calls.Load(), int32(calls))
	h.is.Equal(h.balance(), imagegen.Credits(100-calls*n))
	h.audit()
}

// A store that is slow, but stores, is not away.
func TestSlowStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made counted
		h := start(t, made.answering(), func(c *engine.Config) {
			c.Images = imageASecond{c.Store.(imagegen.ImageStore), make(chan struct{}, 1)}
		})
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if _, err := h.generate(imagegen.GenerateRequest{}); err != nil {
					t.Error(err)
				}
			})
		}
		for range 20 {
			time.Sleep(time.Second)
			h.is.Equal(h.reasons(), nil)
		}
		all.Wait()
	})
}

// imageASecond stores an image a second.
type imageASecond struct {
	imagegen.ImageStore
	turn chan struct{} // a mutex would stop the time of the bubble
}

func (s imageASecond) PutImage(ctx context.Context, k imagegen.ImageKey, r io.Reader) error {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	time.Sleep(time.Second)
	return s.ImageStore.PutImage(ctx, k, r)
}

// Work that waits in the queue, or for a slot, is not begun while images cannot be stored, although a slot becomes
// free.
func TestNothingBeginsWhileTheStoreIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		answer, fail := make(chan struct{}), make(chan struct{})
		p := &scripted{caps: anything,
			do: func(_ context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
				if calls.Add(1) == 2 {
					<-fail
					yield(imagegen.ProviderImage{}, &imagegen.ProviderError{Class: imagegen.ClassUnknown})
					return
				}
				<-answer
				yield(picture(1024, 1024), nil)
			}}
		h, store := startAway(t, p, func(c *engine.Config) { c.Limits.Concurrency = 2 })
		begin := func(async bool) <-chan error {
			done := make(chan error, 1)
			go func() {
				r, err := h.generate(imagegen.GenerateRequest{Async: async})
				if err == nil && async {
					h.ended(r.Generation.ID)
				}
				done <- err
			}()
			synctest.Wait()
			return done
		}
		first, second, queued, waits := begin(false), begin(false), begin(true), begin(false)
		h.is.Equal(calls.Load(), int32(2))
		store.begin(outage{err: errDoubt})
		close(answer)
		time.Sleep(time.Second)
		close(fail) // and a slot is free
		h.is.True(<-second != nil)
		h.is.True(isCode(<-waits, imagegen.ErrOverloaded))
		time.Sleep(time.Minute)
		h.is.Equal(calls.Load(), int32(2))
		h.is.Equal(h.balance(), imagegen.Credits(98)) // what waits for a slot was not charged
		store.end()
		h.is.NoErr(<-first)
		h.is.NoErr(<-queued)
		h.is.Equal(calls.Load(), int32(3))
		h.is.Equal(h.balance(), imagegen.Credits(98))
	})
}

// An image that cannot be stored before the time limit, or before the engine has stopped, is
// refunded and counted. The upstream is not called again for it, unless its job was saved.
func TestImagesThatAreLost(t *testing.T) {
	for name, test := range map[string]struct {
		stop, job bool
		calls     int32
	}{
		"time limit":           {calls: 1},
		"stopped":              {stop: true, calls: 1},
		"stopped, job resumed": {stop: true, job: true, calls: 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var made counted
				p := made.answering()
				answer := p.do
				p.do = func(ctx context.Context, r imagegen.ProviderRequest, yield func(imagegen.ProviderImage,
					error) bool) {
					if test.job {
						_ = r.SaveJob(ctx, []byte("job"))
					}
					answer(ctx, r, yield)
				}
				var lost atomic.Int32
				h, store := startAway(t, p, func(c *engine.Config) { c.Observer = countingLost{&lost} })
				store.begin(outage{err: errDoubt})
				g, err := h.generate(imagegen.GenerateRequest{N: 2, Async: true})
				h.is.NoErr(err)
				time.Sleep(time.Minute)
				if test.stop {
					ended, cancel := context.WithCancel(t.Context())
					cancel()
					h.is.NoErr(h.engine.Stop(ended))
					store.end()
					h.restart()
				}
				got := h.ended(g.Generation.ID)
				h.is.Equal(made.calls.Load(), test.calls)
				if test.job {
					h.is.Equal(got.Status, imagegen.StatusSucceeded)
					h.is.Equal(lost.Load(), int32(0))
					return
				}
				h.is.Equal(got.Status, imagegen.StatusFailed)
				h.is.True(!got.Failure.Lasting)
				h.is.Equal(lost.Load(), int32(2))
				h.is.Equal(h.balance(), imagegen.Credits(100))
				r, err := h.engine.Record(t.Context(), got.ID)
				h.is.NoErr(err)
				h.is.Equal(r.Failure.Class, imagegen.ClassStorage)
			})
		})
	}
}

// While an image store does not answer, files that could not be removed hold up neither maintenance nor Stop.
func TestStopWhileTheStoreSaysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made := counted{answer: make(chan struct{})}
		h, store := startAway(t, made.answering(), func(c *engine.Config) {
			c.Attempts.Timeout, c.Attempts.Grace = 10*time.Second, time.Second
		})
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() { _, _ = h.generate(imagegen.GenerateRequest{}) })
		}
		synctest.Wait()
		store.begin(outage{})
		close(made.answer)
		all.Wait()
		h.is.Equal(h.balance(), imagegen.Credits(100)) // all images are lost
		time.Sleep(3 * time.Minute)                    // and removals are tried again
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		began := time.Now()
		h.is.NoErr(h.engine.Stop(ended))
		h.is.True(time.Since(began) <= 10*time.Second)
		store.end()
	})
}

// countingLost counts images that are lost.
type countingLost struct{ images *atomic.Int32 }

func (countingLost) Begin(ctx context.Context, _ imagegen.Event) context.Context { return ctx }

func (c countingLost) Observe(_ context.Context, e imagegen.Event) {
	if e.Kind == imagegen.EventLost {
		c.images.Add(int32(e.Count))
	}
}

// An image that its store refuses, while it takes others, holds up nobody else for long.
func TestAnImageThatIsNeverTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startFaulty(t, yieldImages(1, nil))
		var poison imagegen.GenerationID
		f.failBefore(func(call string, n int, by imagegen.Fence) error {
			if call == "PutImage" && n == 1 {
				poison = by.ID
			}
			if call == "PutImage" && by.ID == poison {
				return errDoubt
			}
			return nil
		})
		go f.generate(imagegen.GenerateRequest{})
		time.Sleep(5 * time.Second)
		for range 20 {
			_, err := f.generate(imagegen.GenerateRequest{})
			f.is.NoErr(err)
			time.Sleep(time.Second)
		}
		time.Sleep(time.Hour)
		r, err := f.engine.Record(t.Context(), poison)
		f.is.NoErr(err)
		f.is.Equal(r.State, imagegen.StateFailed)
	})
}

// An image that is tried again tells of an outage that begins meanwhile, although no other image is to be stored.
func TestOutageWhileAnImageIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startFaulty(t, yieldImages(1, nil))
		var poison atomic.Value
		var away atomic.Bool
		f.failBefore(func(call string, n int, by imagegen.Fence) error {
			if call == "PutImage" && n == 1 {
				poison.Store(by.ID)
			}
			if call == "PutImage" && (away.Load() || by.ID == poison.Load()) {
				return errDoubt
			}
			return nil
		})
		reasons := func() int { return len(f.engine.Readiness(t.Context()).Reasons) }
		done := make(chan error, 1)
		go func() {
			_, err := f.generate(imagegen.GenerateRequest{})
			done <- err
		}()
		time.Sleep(10 * time.Second)
		f.is.Equal(reasons(), 0)
		away.Store(true)
		time.Sleep(5 * time.Second)
		f.is.Equal(reasons(), 1)
		away.Store(false)
		poison.Store(imagegen.GenerationID(""))
		f.is.NoErr(<-done)
		f.is.Equal(reasons(), 0)
	})
}

// However long images cannot be stored, probes leave no more than one file behind.
func TestProbesLeaveOneFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startFaulty(t, yieldImages(1, nil))
		var away atomic.Bool
		away.Store(true)
		f.failAfter(func(call string, _ int, _ imagegen.Fence) error { // it lies there all the same
			if call == "PutImage" && away.Load() {
				return errDoubt
			}
			return nil
		})
		done := make(chan error, 1)
		go func() {
			_, err := f.generate(imagegen.GenerateRequest{})
			done <- err
		}()
		time.Sleep(5 * time.Minute)
		away.Store(false)
		f.is.NoErr(<-done)
		keys := map[imagegen.ImageKey]bool{}
		for _, k := range f.put {
			keys[k] = true
		}
		f.is.Equal(len(keys), 2) // of the probes, and of the image
	})
}

// What is held of images while nothing can be stored is bounded: answers are read on only as
// there is room, and all of them are delivered in the end.
func TestMemoryOfImagesThatAreKept(t *testing.T) {
	is := is.New(t)
	const calls, size = 40, 12 << 20
	large := joined(slices.Insert(chunks(pngOf(1024, 1024)), 3, chunk("tEXt", make([]byte, size)...))...)
	var read atomic.Int64
	var answer chan struct{}
	p := &scripted{caps: anything,
		do: func(_ context.Context, r imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
			<-answer
			body := bytes.NewReader(large)
			yield(imagegen.ProviderImage{Body: readerFunc(func(b []byte) (int, error) {
				n, err := body.Read(b)
				read.Add(int64(n))
				return n, err
			})}, nil)
		}}
	synctest.Test(t, func(t *testing.T) {
		answer = make(chan struct{})
		h, store := startAway(t, p.verified(imagegen.VerifyStructure))
		var all sync.WaitGroup
		for range calls {
			all.Go(func() {
				_, err := h.generate(imagegen.GenerateRequest{})
				if err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		store.begin(outage{err: errDoubt, spool: true})
		close(answer)
		time.Sleep(30 * time.Second)
		is.True(read.Load() <= 192<<20+calls*64<<10)
		is.True(read.Load() >= 170<<20) // all but the reserve, at least
		store.end()
		all.Wait()
		is.True(read.Load() >= calls*size)
		h.audit()
	})
}

// While the spool takes nothing, images that have come in part hold all memory that there is, and each of them is
// received nonetheless: one after the other.
func TestNoImageWaitsForTheMemoryOfAnother(t *testing.T) {
	for name, p := range map[string]struct {
		verify imagegen.Verification
		calls  int // whose first 4 MiB are all that there is
	}{"as they come": {imagegen.VerifyStructure, 50}, "to be decoded": {imagegen.VerifyDecode, 18}} {
		t.Run(name, func(t *testing.T) {
			const part = 4 << 20
			large := joined(slices.Insert(chunks(pngOf(1024, 1024)), 3, chunk("tEXt", make([]byte, 2*part)...))...)
			synctest.Test(t, func(t *testing.T) {
				answer, rest := make(chan struct{}), make(chan struct{})
				provider := &scripted{caps: anything,
					do: func(_ context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage,
						error) bool) {
						<-answer
						body := io.MultiReader(bytes.NewReader(large[:part]), readerFunc(func([]byte) (int, error) {
							<-rest
							return 0, io.EOF
						}), bytes.NewReader(large[part:]))
						yield(imagegen.ProviderImage{Body: body}, nil)
					}}
				h, store := startAway(t, provider.verified(p.verify), func(c *engine.Config) {
					c.Attempts.Timeout = 2 * time.Minute
				})
				var all sync.WaitGroup
				for range p.calls {
					all.Go(func() {
						if _, err := h.generate(imagegen.GenerateRequest{}); err != nil {
							t.Error(err)
						}
					})
				}
				synctest.Wait()
				store.begin(outage{err: errDoubt, spool: true, images: true})
				close(answer)
				synctest.Wait()
				close(rest)
				all.Wait()
				store.end()
				h.audit()
			})
		})
	}
}

// An answer that could not be read to its end before the time limit was not delivered, and is
// refunded.
func TestNoRoomUntilTheTimeLimit(t *testing.T) {
	const calls, size = 24, 12 << 20
	large := joined(slices.Insert(chunks(pngOf(1024, 1024)), 3, chunk("tEXt", make([]byte, size)...))...)
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan struct{})
		h, store := startAway(t,
			(&scripted{caps: anything,
				do: func(_ context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage,
					error) bool) {
					<-answer
					yield(imagegen.ProviderImage{Body: bytes.NewReader(large)}, nil)
				}}).verified(imagegen.VerifyStructure))
		var all sync.WaitGroup
		for range calls {
			all.Go(func() {
				if _, err := h.generate(imagegen.GenerateRequest{}); !isCode(err, imagegen.ErrGenerationFailed) {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		store.begin(outage{err: errDoubt, spool: true})
		close(answer)
		all.Wait()
		store.end()
		h.is.Equal(h.balance(), imagegen.Credits(100))
		h.audit()
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }
