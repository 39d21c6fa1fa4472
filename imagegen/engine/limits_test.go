package engine_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// limited is a session with a key of alice's that has limits.
func (h *harness) limited(l imagegen.KeyLimits) *engine.Session {
	h.Helper()
	raw, _, err := h.engine.Accounts().MintLimitedKey(h.Context(), alice, "ci", time.Time{}, l)
	h.is.NoErr(err)
	s, err := h.engine.Authenticate(h.Context(), raw.Reveal())
	h.is.NoErr(err)
	return s
}

// A key with as many requests at once as it may have is refused before it waits for a slot; a replay and a
// join do not count as requests, nor does what has ended.
func TestRequestsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, slowly(time.Minute), func(c *engine.Config) { c.Limits.Concurrency = 1 })
		s := h.limited(imagegen.KeyLimits{Concurrent: 1})
		done := make(chan error, 1)
		q := fox(imagegen.GenerateRequest{IdempotencyKey: "k"})
		go func() {
			_, err := s.Generate(t.Context(), q)
			done <- err
		}()
		synctest.Wait()
		began := time.Now()
		_, err := s.Generate(t.Context(), fox(imagegen.GenerateRequest{}))
		refused, ok := errors.AsType[*imagegen.Error](err)
		h.is.True(ok && refused.Code == imagegen.CodeRateLimited && refused.RetryAfter > 0)
		h.is.Equal(time.Since(began), time.Duration(0))
		again, err := s.Generate(t.Context(), q) // waits for the first
		h.is.NoErr(err)
		h.is.True(again.Replayed)
		h.is.NoErr(<-done)
		_, err = s.Generate(t.Context(), fox(imagegen.GenerateRequest{}))
		h.is.NoErr(err)
		h.audit()
	})
}

// The error names the limit of credits, also where the account has too few, and what it has paid for is
// replayed all the same.
func TestLimitOfCredits(t *testing.T) {
	h := start(t, yieldImages(1, nil))
	s := h.limited(imagegen.KeyLimits{Daily: 1})
	q := fox(imagegen.GenerateRequest{IdempotencyKey: "k"})
	_, err := s.Generate(t.Context(), q)
	h.is.NoErr(err)
	for _, n := range []int{1, 4} {
		_, err = s.Generate(t.Context(),
			fox(imagegen.GenerateRequest{N: n, Size: imagegen.Size{Width: 4096, Height: 4096}}))
		h.is.True(errors.Is(err, imagegen.ErrInsufficientCredits))
		h.is.True(strings.Contains(err.Error(), `the API key "ci"`) &&
			strings.Contains(err.Error(), "limited to 1 credits a day (UTC)"))
	}
	again, err := s.Generate(t.Context(), q)
	h.is.NoErr(err)
	h.is.True(again.Replayed)
	_, err = h.engine.Accounts().SetKeyLimits(t.Context(), s.KeyID(), imagegen.KeyLimits{})
	h.is.NoErr(err)
	_, err = s.Generate(t.Context(), fox(imagegen.GenerateRequest{}))
	h.is.NoErr(err)
	h.audit()
}

// Beside a ledger that takes no part in the store's transactions, limits cannot be kept, and so a key that has
// some is refused.
func TestLimitsBesideAnOutsideLedger(t *testing.T) {
	h := start(t, yieldImages(1, nil), withOutsideLedger)
	_, err := h.limited(imagegen.KeyLimits{Credits: 100}).Generate(t.Context(), fox(imagegen.GenerateRequest{}))
	h.is.True(errors.Is(err, imagegen.ErrChargeRefused))
	_, err = h.limited(imagegen.KeyLimits{}).Generate(t.Context(), fox(imagegen.GenerateRequest{}))
	h.is.NoErr(err)
}
