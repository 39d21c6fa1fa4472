package gemini

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// stopped are the finish reasons of moderation.
var stopped = []string{"SAFETY", "IMAGE_SAFETY", "PROHIBITED_CONTENT", "IMAGE_PROHIBITED_CONTENT", "BLOCKLIST", "SPII",
	"RECITATION", "IMAGE_RECITATION"}

// imageless are the finish reasons of a model that came to its end without an image. What the prompt
// was has led there, so it speaks neither against the upstream nor for another try.
var imageless = []string{"NO_IMAGE", "IMAGE_OTHER", "OTHER", "LANGUAGE"}

// answer is read while it arrives.
type answer struct {
	yield   func(imagegen.ProviderImage, error) bool
	yielded bool   // the image
	blocked string // why the prompt was
	finish  string // why the model stopped
	text    string // what it said instead
}

// read yields the image that the answer holds, or tells why there is none.
func (a *answer) read(ctx context.Context, body io.Reader) error {
	for s, err := range upstream.Strings(body) {
		if err != nil || ctx.Err() != nil {
			return upstream.Broken(ctx, err)
		}
		if wanted, err := a.take(s); err != nil {
			return upstream.Broken(ctx, err)
		} else if !wanted {
			return nil
		}
	}
	if a.yielded {
		return nil
	}
	return a.refusal()
}

func (a *answer) take(s upstream.String) (wanted bool, err error) {
	switch s.Path {
	case "candidates[].content.parts[].inlineData.data":
		if a.yielded { // the model may make more than the one that was asked for
			return true, nil
		}
		a.yielded = true
		return a.yield(imagegen.ProviderImage{Body: upstream.Base64(s)}, nil), nil
	case "candidates[].content.parts[].text":
		a.text, err = s.Text()
	case "candidates[].finishReason":
		a.finish, err = s.Text()
	case "promptFeedback.blockReason":
		a.blocked, err = s.Text()
	}
	return true, err
}

// refusal is the error of an answer without an image. One that moderation did not cause has cost.
func (a *answer) refusal() error {
	said := fmt.Errorf("block reason %q, finish reason %q: %s", a.blocked, a.finish, upstream.Excerpt([]byte(a.text)))
	if a.blocked != "" || slices.Contains(stopped, a.finish) {
		return &imagegen.ProviderError{Class: imagegen.ClassRefused, Message: "the upstream's moderation refused the request", Err: said}
	}
	e := &imagegen.ProviderError{Message: "the upstream answered without an image", Err: said}
	if slices.Contains(imageless, a.finish) {
		e.Class = imagegen.ClassInvalid
	}
	return e
}
