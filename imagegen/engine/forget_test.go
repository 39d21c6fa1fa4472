package engine_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
)

func refusesAll() *scripted {
	return yieldImages(0, &imagegen.ProviderError{Class: imagegen.ClassRefused})
}

// history is what alice sees of her generations.
func (h *harness) history() []imagegen.Generation {
	h.Helper()
	p, err := h.engine.As(alice).Generations(h.Context(), imagegen.Query{})
	h.is.NoErr(err)
	return p.Generations
}

// refused is a generation of alice's that fails, with two references.
func (h *harness) refused(q imagegen.GenerateRequest) {
	h.Helper()
	q.Prompt, q.References = "a secret", []imagegen.Reference{bytesReference(pngOf(64, 64)),
		bytesReference(pngOf(32, 32))}
	_, err := h.generate(q)
	h.is.True(err == nil && q.Async || isCode(err, imagegen.ErrGenerationFailed))
	synctest.Wait()
}

// A prompt that came to nothing is kept for a while, and so long its idempotency key answers; its owner
// sees the rest for good.
func TestPromptsOfFailedGenerationsAreForgotten(t *testing.T) {
	eachLedger(t, func(t *testing.T, option func(*engine.Config)) {
		synctest.Test(t, func(t *testing.T) {
			const keep = 30 * time.Hour
			h := start(t, refusesAll(), option, func(c *engine.Config) { c.Retention.FailedPrompts = keep })
			h.refused(imagegen.GenerateRequest{IdempotencyKey: "k"})
			h.refused(imagegen.GenerateRequest{Async: true})
			want := h.history()
			h.is.Equal(len(want), 2)
			time.Sleep(keep - 2*time.Minute)
			h.is.Equal(cmp.Diff(want, h.history(), cmpopts.EquateErrors()), "")

			time.Sleep(4 * time.Minute)
			for n := range want {
				want[n].Prompt = ""
				h.is.Equal(want[n].ReferenceCount, 2)
			}
			h.is.Equal(cmp.Diff(want, h.history(), cmpopts.EquateErrors()), "")
			_, err := h.db.GenerationByIdempotencyKey(t.Context(), alice, "k")
			h.is.True(errors.Is(err, imagegen.ErrNotFound))
			h.audit()
			h.is.NoErr(h.engine.Erase(t.Context(), want[0].ID))
			h.audit()
		})
	})
}

// All of them are forgotten, however many there are.
func TestManyPromptsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, refusesAll(), func(c *engine.Config) { c.Limits.MaxRefusals = -1 })
		for range 250 {
			h.refused(imagegen.GenerateRequest{})
		}
		time.Sleep(72*time.Hour + 90*time.Second) // one pass or two
		left, err := h.db.Forgettable(t.Context(), imagegen.StateFailed, 0, 1000)
		h.is.NoErr(err)
		h.is.Equal(len(left), 0)
		h.is.Equal(len(h.history()), imagegen.DefaultPageSize)
		h.audit()
	})
}

// A clock that leaps is not believed here either.
func TestNoLeapForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ahead atomic.Int64
		h := start(t, refusesAll(), func(c *engine.Config) {
			db := memory.New(&memory.Options{Now: func() time.Time {
				return time.Now().Add(time.Duration(ahead.Load()))
			}})
			c.Store, c.Ledger = db, db
		})
		h.db = h.cfg.Store.(*memory.DB)
		_, err := h.db.Grant(t.Context(), imagegen.Grant{User: alice, Credits: 1})
		h.is.NoErr(err)
		h.refused(imagegen.GenerateRequest{})
		ahead.Store(int64(5 * 365 * 24 * time.Hour))
		time.Sleep(71 * time.Hour)
		h.is.Equal(h.history()[0].Prompt, "a secret")
		time.Sleep(2 * time.Hour)
		h.is.Equal(h.history()[0].Prompt, "")
	})
}

// An image was paid for: its prompt is there as long as it is.
func TestPromptsOfImagesStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, yieldImages(1, nil))
		_, err := h.generate(imagegen.GenerateRequest{})
		h.is.NoErr(err)
		time.Sleep(100 * time.Hour)
		h.is.Equal(h.history()[0].Prompt, "a fox")
	})
}

func TestPromptsCanStayForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, refusesAll(), func(c *engine.Config) { c.Retention.FailedPrompts = -1 })
		h.refused(imagegen.GenerateRequest{})
		time.Sleep(1000 * time.Hour)
		h.is.Equal(h.history()[0].Prompt, "a secret")
	})
}
