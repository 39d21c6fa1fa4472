package conformance_test

import (
	"context"
	"iter"
	"net/http"
	"sync"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/provider"
)

// listening is the fake provider, and knows the effort that it was last asked for.
type listening struct {
	provider.Fake
	mu     sync.Mutex
	effort imagegen.Quality
}

func (l *listening) Generate(ctx context.Context, r imagegen.ProviderRequest) iter.Seq2[imagegen.ProviderImage, error] {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.effort = r.Quality
	return l.Fake.Generate(ctx, r)
}

func (l *listening) heard() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.effort)
}

const cappedModel = `
models:
  - {id: fake-1, provider: {type: fake}, credits: {1K: 1, 2K: 2}, max_effort: {1K: medium}}
`

// The quality that a caller asks for reaches the provider, capped where the models file caps it.
// No effect of it can be seen from outside: the fake provider draws as it can.
func TestEffort(t *testing.T) {
	provider := &listening{}
	a := startEngine(t, settings{models: cappedModel}, func(c *engine.Config) { c.Models[0].Provider = provider }).
		account(t, 100)
	for _, c := range []struct{ size, asked, shown, handed string }{
		{"64x48", "low", "low", "low"},
		{"64x48", "medium", "medium", "medium"},
		{"64x48", "auto", "auto", "medium"},   // what the upstream would choose could be more
		{"1536x1152", "high", "high", "high"}, // no cap on 2K
		{"1536x1152", "auto", "auto", "auto"},
	} {
		g := a.generated(t, object{"size": c.size, "quality": c.asked})
		same(t, []any{g["requested_quality"], g["effort"], provider.heard()}, []any{c.shown, c.handed, c.handed})
	}
	a.post(t, fox(object{"size": "64x48", "quality": "high"})).refused(t, http.StatusBadRequest, "invalid_request",
		"the highest is medium")
}

// An embedder's policy decides ratio and tier, within what the model lists.
func TestPolicyOfAnEmbedder(t *testing.T) {
	a := startEngine(t, settings{}, func(c *engine.Config) {
		c.Policy = func(size imagegen.Size, _ imagegen.Quality, _ imagegen.ModelInfo) (engine.Choice, error) {
			if size.Width == size.Height && !size.Auto() {
				return engine.Choice{}, imagegen.Invalid("no squares here, such as %v", size)
			}
			return engine.Choice{Ratio: "16:9", Tier: imagegen.Tier2K}, nil
		}
	}).account(t, 10)
	g := a.generated(t, object{"size": "auto", "quality": "high"})
	same(t, []any{g["aspect_ratio"], g["quality"], g["usage"].(object)["credits"]}, []any{"16:9", "2K", 2})
	a.post(t, fox(object{"size": "64x64"})).refused(t, http.StatusBadRequest, "invalid_request",
		"no squares here, such as 64x64")
}
