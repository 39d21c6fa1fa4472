package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

func TestIdempotencyKeyIsFreeAfter24Hours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, yieldImages(1, nil))
		first, err := h.generate(imagegen.GenerateRequest{IdempotencyKey: "k"})
		h.is.NoErr(err)
		time.Sleep(24*time.Hour - time.Second)
		again, err := h.generate(imagegen.GenerateRequest{IdempotencyKey: "k"})
		h.is.NoErr(err)
		h.is.True(again.Replayed)
		time.Sleep(time.Second)
		fresh, err := h.generate(imagegen.GenerateRequest{IdempotencyKey: "k"})
		h.is.NoErr(err)
		h.is.True(!fresh.Replayed && fresh.ID != first.ID)
		h.audit()
	})
}

// 32 callers with one key: one charge, in whichever order they come.
func TestConcurrentCallersWithOneKey(t *testing.T) {
	for name, async := range map[string]bool{"synchronous": false, "asynchronous": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := start(t, &scripted{caps: anything,
					do: func(_ context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage,
						error) bool) {
						time.Sleep(time.Second)
						yield(picture(1024, 1024), nil)
					}})
				ids := make(chan imagegen.GenerationID, 32)
				var unexpected sync.Map
				var callers sync.WaitGroup
				for range 32 {
					callers.Go(func() {
						for {
							got, err := h.engine.As(alice).Generate(context.Background(),
								fox(imagegen.GenerateRequest{IdempotencyKey: "k", Async: async}))
							if errors.Is(err, imagegen.ErrIdempotencyKeyInUse) { // eight wait
								time.Sleep(100 * time.Millisecond)
								continue
							}
							if err != nil {
								unexpected.Store(err.Error(), true)
							}
							ids <- got.ID
							return
						}
					})
				}
				callers.Wait()
				unexpected.Range(func(err, _ any) bool { t.Error(err); return true })
				first := <-ids
				for range 31 {
					h.is.Equal(<-ids, first)
				}
				h.ended(first)
				h.is.Equal(h.balance(), imagegen.Credits(99))
				h.audit()
			})
		})
	}
}

// Charged work is found by its key also when the model was removed, or offers less.
func TestReplayOfWhatIsNoLongerOffered(t *testing.T) {
	for name, change := range map[string]func(*engine.Config){
		"another model": func(c *engine.Config) { c.Models[0].ID = "other" },
		"another tier":  func(c *engine.Config) { c.Models[0].Credits = map[imagegen.Tier]imagegen.Credits{"4K": 1} },
		"shorter":       func(c *engine.Config) { c.Models[0].MaxPrompt = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := start(t, yieldImages(1, nil))
				q := imagegen.GenerateRequest{Model: "m", Prompt: "a fox", IdempotencyKey: "k",
					References: []imagegen.Reference{bytesReference(pngOf(32, 32))}}
				first, err := h.engine.As(alice).Generate(t.Context(), q)
				h.is.NoErr(err)
				h.is.NoErr(h.engine.Stop(t.Context()))
				h.cfg.Models = slices.Clone(h.cfg.Models)
				change(&h.cfg)
				h.restart()
				second, err := h.engine.As(alice).Generate(t.Context(), q)
				h.is.NoErr(err)
				h.is.True(second.Replayed)
				h.is.Equal(second.ID, first.ID)
				q.Prompt = "another fox" // with the same key
				_, err = h.engine.As(alice).Generate(t.Context(), q)
				h.is.True(isCode(err, imagegen.ErrInvalidRequest))
				time.Sleep(25 * time.Hour)
				q.Prompt = "a fox"
				_, err = h.engine.As(alice).Generate(t.Context(), q)
				h.is.True(isCode(err, imagegen.ErrInvalidRequest))
				h.is.Equal(h.balance(), imagegen.Credits(99))
				h.audit()
			})
		})
	}
}

// A repetition waits for work under way also when its model was removed.
func TestRepetitionOfWorkWhoseModelIsRetired(t *testing.T) {
	eachLedger(t, func(t *testing.T, option func(*engine.Config)) {
		synctest.Test(t, func(t *testing.T) {
			h := start(t, fourSeconds(), option)
			q := imagegen.GenerateRequest{IdempotencyKey: "k"}
			answers := make(chan imagegen.Result, 2)
			ask := func() {
				got, err := h.generate(q)
				if err != nil {
					t.Error(err)
				}
				answers <- got
			}
			go ask()
			synctest.Wait()
			h.is.NoErr(h.setModels(retired(offered("m", yieldImages(1, nil), 1))))
			go ask()
			first, second := <-answers, <-answers
			h.is.Equal(first.ID, second.ID)
			h.is.True(first.Replayed != second.Replayed)
			h.is.Equal(h.balance(), imagegen.Credits(99))
			h.audit()
		})
	})
}

// blind is a store in which no idempotency key can be looked up.
type blind struct{ imagegen.TxStore }

func (blind) GenerationByIdempotencyKey(context.Context, imagegen.UserID, string) (imagegen.Record, error) {
	return imagegen.Record{}, errDoubt
}

// Where nobody can tell whether it was made before, a request is not refused for good.
func TestRefusalThatCouldBeAReplay(t *testing.T) {
	h := start(t, yieldImages(1, nil), func(c *engine.Config) {
		c.Images, c.Spool = c.Store.(imagegen.ImageStore), c.Store.(imagegen.Spool)
		c.Store = blind{c.Store.(imagegen.TxStore)}
	})
	_, err := h.engine.As(alice).Generate(t.Context(), imagegen.GenerateRequest{Model: "gone", Prompt: "a fox",
		IdempotencyKey: "k"})
	h.is.True(isCode(err, imagegen.ErrInternal) && !imagegen.Definite(err))
	h.is.True(strings.Contains(err.Error(), "outcome unknown"))
	_, err = h.engine.As(alice).Generate(t.Context(), imagegen.GenerateRequest{Model: "gone", Prompt: "a fox"})
	h.is.True(isCode(err, imagegen.ErrInvalidRequest))
}
