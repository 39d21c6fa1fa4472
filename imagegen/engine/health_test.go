package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

func TestHealth(t *testing.T) {
	for name, test := range map[string]struct {
		provider *scripted
		healthy  bool
		detail   string
	}{
		"images": {yieldImages(1, nil), true, ""},
		"some, then no": {yieldImages(1, &imagegen.ProviderError{Class: imagegen.ClassUnavailable, Message: "gone"}),
			false, "gone"},
		"unavailable": {yieldImages(0, &imagegen.ProviderError{Class: imagegen.ClassUnavailable, Message: "gone"}),
			false, "gone"},
		"rate-limited": {yieldImages(0, &imagegen.ProviderError{Class: imagegen.ClassRateLimited, Message: "slower"}),
			false, "slower"},
		"unknown":      {yieldImages(0, errors.New("what?")), false, "what?"},
		"refused":      {yieldImages(0, &imagegen.ProviderError{Class: imagegen.ClassRefused}), true, ""},
		"invalid":      {yieldImages(0, &imagegen.ProviderError{Class: imagegen.ClassInvalid}), true, ""},
		"nothing":      {yieldImages(0, nil), false, "no image"},
		"not an image": {yields([]byte("hello")), false, "not usable"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := start(t, test.provider)
				h.is.Equal(cmp.Diff([]engine.ProviderHealth{{Model: "m", Provider: "scripted",
					Load: engine.ModelLoad{Bound: 64, Most: 64}}}, h.engine.Health()), "")
				h.generate(imagegen.GenerateRequest{N: 2})
				got := h.engine.Health()[0]
				h.is.True(got.At.Equal(time.Now()))
				h.is.Equal(got.Healthy, test.healthy)
				if !strings.Contains(got.Detail, test.detail) || (got.Detail == "") != (test.detail == "") {
					t.Errorf("detail %q, want %q", got.Detail, test.detail)
				}
			})
		})
	}
}

// A stop of the service does not count against the provider.
func TestHealthAfterADrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, stuck(nil))
		h.queued(imagegen.GenerateRequest{})
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		h.is.NoErr(h.engine.Stop(ctx))
		h.is.True(h.engine.Health()[0].At.IsZero())
	})
}

// several is a provider that knows of its members.
type several struct{ *scripted }

var _ imagegen.HealthReporter = several{}

func (several) Health() []imagegen.MemberHealth {
	return []imagegen.MemberHealth{{Name: "a", Healthy: true}, {Name: "b", Detail: "it fails"}}
}

func TestHealthOfMembers(t *testing.T) {
	p := several{yieldImages(1, nil)}
	h := start(t, p)
	h.is.Equal(cmp.Diff(p.Health(), h.engine.Health()[0].Members), "")
}
