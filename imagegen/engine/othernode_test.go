package engine_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// lostAnswers is a store that carries settlements out and, while lose is set, fails to say so.
type lostAnswers struct {
	imagegen.TxStore
	lose *atomic.Bool
}

func (s lostAnswers) FinishSettled(ctx context.Context, f imagegen.Fence,
	o imagegen.OutcomeChange) (imagegen.Record, error) {
	r, err := s.TxStore.FinishSettled(ctx, f, o)
	if s.lose.Load() && err == nil {
		return imagegen.Record{}, errDoubt
	}
	return r, err
}

// A call whose end nobody here has heard of can be joined for as long as any other, and no longer.
func TestUnheardEndIsNotJoinedForEver(t *testing.T) {
	for after, replayed := range map[time.Duration]bool{5 * time.Minute: true, 15 * time.Minute: false} {
		t.Run(after.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var lose atomic.Bool
				lose.Store(true)
				h := &joiner{start(t, yieldImages(1, nil), func(c *engine.Config) {
					c.Images, c.Spool = c.Store.(imagegen.ImageStore), c.Store.(imagegen.Spool)
					c.Store = lostAnswers{c.Store.(imagegen.TxStore), &lose}
				})}
				_, err := h.call(time.Hour)
				h.is.True(err != nil)
				lose.Store(false)
				time.Sleep(after)
				h.is.Equal(h.answers().Replayed, replayed)
			})
		})
	}
}

// Reference images count for their user until their work has ended, also if another engine on the store has done it.
func TestUploadsOfWorkDoneElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := pngOf(64, 64)
		h := start(t, slowly(time.Second), func(c *engine.Config) {
			c.Limits.MaxSpooled, c.Limits.Concurrency = int64(len(file))*3+1, 1
		})
		accepting := h.engine
		h.restart() // a second engine
		for range 5 {
			go func() { // it takes the only slot of the first
				_, _ = accepting.As(alice).Generate(t.Context(), fox(imagegen.GenerateRequest{Prompt: "busy"}))
			}()
			time.Sleep(time.Millisecond)
			r, err := accepting.As(alice).Generate(t.Context(),
				fox(imagegen.GenerateRequest{Async: true, References: []imagegen.Reference{bytesReference(file)}}))
			h.is.NoErr(err)
			h.is.Equal(h.endedFor(alice, r.ID).Status, imagegen.StatusSucceeded)
			time.Sleep(3 * time.Minute) // of maintenance
		}
	})
}

// A repetition that meets the first call only at its charge, since another engine has it, waits for that one's answer.
func TestRepetitionOnAnotherEngineWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, slowly(10*time.Second), func(c *engine.Config) { c.Limits.Concurrency = 1 })
		busy := h.engine
		h.restart() // a second engine
		go func() { _, _ = busy.As(alice).Generate(t.Context(), fox(imagegen.GenerateRequest{Prompt: "busy"})) }()
		time.Sleep(5 * time.Second)
		results, failures := make(chan imagegen.Result, 2), make(chan error, 2)
		// the first waits for its slot for five seconds, the second begins
		for _, e := range []*engine.Engine{busy, h.engine} {
			go func() {
				r, err := e.As(alice).Generate(t.Context(), fox(imagegen.GenerateRequest{IdempotencyKey: "k"}))
				results <- r
				failures <- err
			}()
			time.Sleep(time.Second)
		}
		first, second := <-results, <-results
		h.is.NoErr(errors.Join(<-failures, <-failures))
		h.is.Equal(first.ID, second.ID)
		h.is.True(first.Replayed != second.Replayed)
	})
}

// takenOver is a store in which another engine has settled each generation, and taken its caller for gone.
type takenOver struct{ imagegen.TxStore }

func (s takenOver) FinishSettled(ctx context.Context, f imagegen.Fence,
	o imagegen.OutcomeChange) (imagegen.Record, error) {
	o.Undelivered = true
	r, err := s.TxStore.FinishSettled(ctx, f, o)
	if err == nil {
		err = imagegen.ErrStale
	}
	return r, err
}

// An answer that was received is joined by nobody, also if another engine has settled the work meanwhile.
func TestReceivedAnswerOfWorkThatWasTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &joiner{start(t, yieldImages(1, nil), func(c *engine.Config) {
			c.Images, c.Spool = c.Store.(imagegen.ImageStore), c.Store.(imagegen.Spool)
			c.Store = takenOver{c.Store.(imagegen.TxStore)}
		})}
		h.is.True(!h.answers().Replayed)
		h.is.True(!h.answers().Replayed)
	})
}
