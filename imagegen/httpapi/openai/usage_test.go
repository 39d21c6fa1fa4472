package openai_test

import (
	"context"
	"iter"
	"net/http"
	"strings"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/httpapi/openai"
	"github.com/imagegend/imagegend/imagegen/provider"
)

// counting is a fake provider whose upstream reports tokens.
type counting struct{ *provider.Fake }

func (c counting) Generate(ctx context.Context, r imagegen.ProviderRequest) iter.Seq2[imagegen.ProviderImage, error] {
	return func(yield func(imagegen.ProviderImage, error) bool) {
		r.Used(imagegen.UpstreamUsage{TextInput: 11, ImageInput: 323, TextOutput: 2, ImageOutput: 4160, Units: 7})
		c.Fake.Generate(ctx, r)(yield)
	}
}

// An answer has the tokens that the upstream reported, a repeated one too; without any it has none.
func TestUsageOfTokens(t *testing.T) {
	s := serve(t, openai.Options{}, func(c *engine.Config) { c.Models[0].Provider = counting{&provider.Fake{}} })
	const usage = `"usage":{"total_tokens":4496,"input_tokens":334,"output_tokens":4162,` +
		`"input_tokens_details":{"text_tokens":11,"image_tokens":323}}`
	for range 2 {
		a := s.post(generations, fox(`,"response_format":"url"`), "Idempotency-Key", "k")
		s.is.Equal(a.StatusCode, http.StatusOK)
		s.is.True(strings.Contains(a.body, usage)) // a.body
	}
	a := s.post(generations, fox(`,"stream":true`))
	s.is.True(strings.Contains(a.body, usage))
	plain := serve(t, openai.Options{})
	s.is.True(!strings.Contains(plain.post(generations, fox("")).body, "usage"))
}
