package webapi

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// classify returns what an answer with a status other than 2xx means, as the package documentation says.
func (c Config) classify(f upstream.Failure) *imagegen.ProviderError {
	e := f.Error()
	if class, ok := c.Statuses[f.Status]; ok {
		e.Class, e.Message = class, "" // the message was that of the status's usual meaning
		if class.Transient() {
			e.RetryAfter = upstream.RetryAfter(f.Header)
		}
	}
	if c.refused(c.errorTexts(f.Body)) {
		e.Class, e.RetryAfter = imagegen.ClassRefused, 0
	}
	if e.Class == imagegen.ClassRefused {
		e.Message = "the upstream's moderation refused the request"
	}
	return e
}

// errorTexts returns the texts at the paths in Errors. If the body is not JSON or is cut, it returns those before that.
func (c Config) errorTexts(body []byte) (said []string) {
	for s, err := range upstream.Strings(bytes.NewReader(body)) {
		if err != nil {
			break
		}
		if !slices.Contains(c.Errors, s.Path) {
			continue
		}
		text, err := s.Message()
		if err != nil {
			break
		}
		said = append(said, text)
	}
	return said
}

// refused reports whether one of the texts contains one of the words in Refusals.
func (c Config) refused(said []string) bool {
	text := strings.ToLower(strings.Join(said, "\n"))
	return slices.ContainsFunc(c.Refusals, func(word string) bool {
		return strings.Contains(text, strings.ToLower(word))
	})
}

// nothing is the error of an answer 2xx without an image. said are the texts at the paths in Errors.
func (c Config) nothing(body io.Reader, said []string) error {
	e := upstream.Imageless(body, "none stands at "+strings.Join(c.Images, ", "))
	e.Class = c.Imageless
	if strings.TrimSpace(strings.Join(said, "")) != "" {
		e.Class, e.Message = imagegen.ClassUnknown, "the upstream answered with an error"
		e.Err = errors.New(upstream.Excerpt([]byte("it said: " + strings.Join(said, "; "))))
	}
	if c.refused(said) {
		e.Class = imagegen.ClassRefused
	}
	if e.Class == imagegen.ClassRefused {
		e.Message = "the upstream's moderation refused the request"
	}
	return e
}
