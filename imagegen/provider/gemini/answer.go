package gemini

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// stopped are the finish reasons that mean a refusal by moderation.
var stopped = []string{"SAFETY", "IMAGE_SAFETY", "PROHIBITED_CONTENT", "IMAGE_PROHIBITED_CONTENT", "BLOCKLIST", "SPII",
	"RECITATION", "IMAGE_RECITATION"}

// imageless are the finish reasons of a model that has ended without an image and was not stopped. The cause is the
// prompt: the upstream works, and another attempt would end likewise.
var imageless = []string{"NO_IMAGE", "IMAGE_OTHER", "OTHER", "LANGUAGE"}

// answer is one answer of the upstream, which is read while it arrives. Parts are numbered by candidate and part,
// both from 1, so that the zero value is none.
type answer struct {
	request imagegen.ProviderRequest
	yield   upstream.Yield
	yielded bool           // the image was yielded
	held    *upstream.Held // a picture that may turn out to be a sketch; nil: none
	part    [2]int         // the part that held is from
	sketch  *upstream.Held // the last picture that is known to be a thought; nil: none
	thought [2]int         // the last part that is known to be a thought
	blocked string         // why the prompt was refused
	extra   [2]int         // the part of the last image behind the one that was yielded
	surplus int64          // how many of these there are
	finish  string         // why the model stopped
	text    string         // what the model said
	usage   usage
}

// decode yields the image that the answer holds, or returns why there is none.
//
// A thinking model also sends sketches. Their parts are marked as thoughts, which may be said only after the picture
// (googleapis/go-genai, types.go, Part.Thought). So a picture is held until its part has ended. Some answers mark even
// the finished picture so (Lixpi/lixpi, pull request 136): if nothing else came, the last sketch is it.
func (a *answer) decode(ctx context.Context, body io.Reader) error {
	defer a.drop()
	wanted, err := upstream.Each(ctx, body, upstream.Values, a.takeValue)
	used := a.usage.sum()
	used.Surplus = a.surplus
	upstream.Report(a.request, used)
	if err != nil || !wanted {
		return err
	}
	if a.held == nil && a.finish == "STOP" {
		a.held, a.sketch = a.sketch, nil
	}
	if !a.deliver() || a.yielded {
		return nil
	}
	return a.refusal(body)
}

// deliver yields the picture that is held, if there is one. It reports whether more is wanted.
func (a *answer) deliver() bool {
	if a.held == nil || a.yielded {
		return true
	}
	a.yielded = true
	return a.yield(a.held)
}

// drop releases the pictures that are held.
func (a *answer) drop() {
	for _, h := range []*upstream.Held{a.held, a.sketch} {
		if h != nil {
			h.Close()
		}
	}
	a.held, a.sketch = nil, nil
}

// takeThought notes that a part is a thought, and that a picture in it is none of the answer.
func (a *answer) takeThought(part [2]int) {
	a.thought = part
	switch {
	case a.held != nil && part == a.part:
		a.keepSketch(a.held)
		a.held = nil
	case part == a.extra:
		a.surplus--
	}
}

// keepSketch takes h for the last sketch.
func (a *answer) keepSketch(h *upstream.Held) {
	if a.sketch != nil {
		a.sketch.Close()
	}
	a.sketch = h
}

// takeValue looks at one string or literal of the answer. It first yields the picture that is held if that is outside
// its part.
func (a *answer) takeValue(s upstream.String) (wanted bool, err error) {
	part := partOf(s)
	wanted = a.held == nil || part == a.part || a.deliver()
	if strings.HasPrefix(s.Path, usagePath) {
		return wanted, a.usage.take(s)
	}
	switch s.Path {
	case "candidates[].content.parts[].thought":
		if s.Literal == "true" {
			a.takeThought(part)
		}
	case "candidates[].content.parts[].inlineData.data":
		if s.Literal != "" {
			return wanted, nil
		}
		if part == a.thought {
			// a broken answer is found broken by the next step
			if h, err := upstream.Hold(upstream.Base64(s)); err == nil {
				a.keepSketch(h)
			}
			return wanted, nil
		}
		if a.yielded { // the model may make more than the one that was asked for
			a.extra, a.surplus = part, a.surplus+1
			return wanted, nil
		}
		a.held, err = upstream.Hold(upstream.Base64(s))
		a.part = part
	case "candidates[].content.parts[].text":
		a.text, err = s.Message()
	case "candidates[].finishReason":
		a.finish, err = s.Message()
	case "promptFeedback.blockReason":
		a.blocked, err = s.Message()
	}
	return wanted, err
}

// partOf is the part that a string stands in, or none. Arrays within the part do not matter.
func partOf(s upstream.String) (part [2]int) {
	// a name may contain []
	if strings.HasPrefix(s.Path, "candidates[].content.parts[].") && len(s.Places) >= len(part) {
		part = [2]int{s.Places[0] + 1, s.Places[1] + 1}
	}
	return part
}

// refusal is the error of an answer without an image. Unless moderation or the prompt is the reason, it is of
// ClassUnknown, since the request may have been billed.
func (a *answer) refusal(body io.Reader) error {
	if a.blocked+a.finish+a.text == "" {
		return upstream.Imageless(body, "it gives no reason")
	}
	said := fmt.Errorf("block reason %q, finish reason %q: %s", a.blocked, a.finish, upstream.Excerpt([]byte(a.text)))
	if a.blocked != "" || slices.Contains(stopped, a.finish) {
		return &imagegen.ProviderError{Class: imagegen.ClassRefused,
			Message: "the upstream's moderation refused the request", Err: said}
	}
	e := &imagegen.ProviderError{Message: "the upstream answered without an image", Err: said}
	if slices.Contains(imageless, a.finish) {
		e.Class = imagegen.ClassInvalid
	}
	return e
}
