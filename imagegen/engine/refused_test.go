package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// A user with nothing but refused prompts reaches the upstream, and the disk, so often an hour; an outage does not
// count, and others notice nothing.
func TestRefusedPromptsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		answer := error(&imagegen.ProviderError{Class: imagegen.ClassBlocked})
		h := start(t, &scripted{caps: anything,
			do: func(_ context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
				calls++
				yield(imagegen.ProviderImage{}, answer)
			}})
		h.grant(bob)
		for range 100 { // nobody's fault
			_, err := h.generate(imagegen.GenerateRequest{})
			h.is.True(isCode(err, imagegen.ErrGenerationFailed))
		}
		calls, answer = 0, &imagegen.ProviderError{Class: imagegen.ClassRefused}
		_, err := h.generate(imagegen.GenerateRequest{IdempotencyKey: "before"})
		h.is.True(isCode(err, imagegen.ErrGenerationFailed))
		var limited *imagegen.Error
		for end := time.Now().Add(3 * time.Hour); time.Now().Before(end); time.Sleep(10 * time.Second) {
			if _, err := h.generate(imagegen.GenerateRequest{}); errors.Is(err, imagegen.ErrRateLimited) {
				limited, _ = errors.AsType[*imagegen.Error](err)
			}
		}
		h.is.True(calls >= 115 && calls <= 125)
		h.is.True(limited.RetryAfter > 0 && limited.RetryAfter <= 2*time.Minute)
		for range 2 {
			_, _ = h.generate(imagegen.GenerateRequest{Async: true})
		}
		_, err = h.generate(imagegen.GenerateRequest{Async: true})
		h.is.True(isCode(err, imagegen.ErrRateLimited) || err == nil)
		_, err = h.generate(imagegen.GenerateRequest{IdempotencyKey: "before"}) // a repetition costs nothing
		h.is.True(isCode(err, imagegen.ErrGenerationFailed))
		_, err = h.engine.As(bob).Generate(t.Context(), fox(imagegen.GenerateRequest{}))
		h.is.True(isCode(err, imagegen.ErrGenerationFailed))
		h.is.Equal(h.balance(), imagegen.Credits(100))
	})
}
