package openai

import (
	"context"
	"io"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// answer is one answer of the upstream, which is read while it arrives.
type answer struct {
	upstream.Found
	request imagegen.ProviderRequest
	problem problem // some services send an error with the status 200
	tokens  upstream.Tokens
}

// decode yields the images that the answer holds, then those that it names. It returns nil if no
// more are wanted.
func (a *answer) decode(ctx context.Context, c *upstream.Client, body io.Reader) error {
	wanted, err := upstream.Each(ctx, body, upstream.Values, a.takeValue)
	used := a.tokens.Usage()
	used.Surplus = a.Surplus()
	upstream.Report(a.request, used)
	if err != nil || !wanted {
		return err
	}
	switch {
	case !a.None(): // what came is paid for, whatever stands beside it
		return a.Fetch(ctx, c)
	case a.problem != (problem{}):
		return a.problem.asError()
	}
	return upstream.Imageless(body, "data has neither a b64_json nor a url")
}

// takeValue looks at one string or number of the answer. What it says of its use stands behind the images
// (openai/openai-openapi, ImagesResponse).
func (a *answer) takeValue(s upstream.String) (wanted bool, err error) {
	switch s.Path {
	case "data[].b64_json", "data[].url":
		return a.Take(s)
	case "error.message", "error":
		a.problem.Message, err = s.Message()
	case "error.code":
		a.problem.Code, err = s.Message()
	case "error.type":
		a.problem.Type, err = s.Message()
	case "usage.input_tokens":
		a.tokens.In = upstream.Count(s.Literal)
	case "usage.input_tokens_details.text_tokens":
		a.tokens.TextIn = upstream.Count(s.Literal)
	case "usage.input_tokens_details.image_tokens":
		a.tokens.ImageIn = upstream.Count(s.Literal)
	case "usage.output_tokens":
		a.tokens.Out = upstream.Count(s.Literal)
	case "usage.output_tokens_details.text_tokens":
		a.tokens.TextOut = upstream.Count(s.Literal)
	}
	return true, err
}
