package upstream

import (
	"errors"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
)

// Redacted yields what images yields, with the key removed from errors. A provider wraps with it all that Generate
// yields: the upstream may repeat the key in any answer, not only in a failure.
func (c *Client) Redacted(images Images) Images {
	return func(yield func(imagegen.ProviderImage, error) bool) {
		for image, err := range images {
			if !yield(image, c.redactError(err)) {
				return
			}
		}
	}
}

// redactError copies a provider's error if it contains the key. The copy still wraps the cause, so errors.As
// finds it, but its text is redacted. An error that wraps no imagegen.ProviderError is returned as it is.
func (c *Client) redactError(err error) error {
	e, ok := errors.AsType[*imagegen.ProviderError](err)
	if !ok || c.redact(err.Error()) == err.Error() {
		return err
	}
	clean, cause := *e, e.Err
	if err != error(e) {
		cause = err // which says more than e
	}
	if clean.Message = c.redact(e.Message); cause != nil {
		clean.Err = &redacted{cause, c.redact(cause.Error())}
	}
	return &clean
}

// redacted is an error with another text.
type redacted struct {
	err  error
	said string
}

func (e *redacted) Error() string { return e.said }
func (e *redacted) Unwrap() error { return e.err }

// recognisable is how long the beginning of a key must be to be taken for one: a shorter one could be any text.
const recognisable = 4

// redact removes from what an upstream says the key and the token that was sent last, also if
// [Excerpt] has cut them off.
func (c *Client) redact(s string) string {
	s = redact(s, c.options.Key)
	if token := c.token.Load(); token != nil {
		s = redact(s, *token)
	}
	return s
}

// redact puts the text of a hidden secret in the place of the secret, and of its beginning before cutOff.
func redact(s string, secret imagegen.Secret) string {
	key, stead := secret.Reveal(), secret.String()
	if key == "" {
		return s
	}
	s = strings.ReplaceAll(s, key, stead)
	for n := len(key) - 1; n >= recognisable; n-- {
		s = strings.ReplaceAll(s, key[:n]+cutOff, stead+cutOff)
	}
	return s
}
