package upstream

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
)

// Redacted is Sequence with the key removed from the error. A provider wraps with it all that Generate does: the
// upstream may repeat the key in any answer, not only in a failure.
func (c *Client) Redacted(ctx context.Context, work func(Yield) error) Images {
	return Sequence(ctx, func(yield Yield) error { return c.redactError(work(yield)) })
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

// redact puts the text of a hidden secret in the place of the secret, of any run of its characters that is long enough
// to give it away, and of its beginning before cutOff.
func redact(s string, secret imagegen.Secret) string {
	key, stead := secret.Reveal(), secret.String()
	if key == "" {
		return s
	}
	s = strings.ReplaceAll(s, key, stead)
	if strings.Contains(s, `\`) {
		s = escaped(key).ReplaceAllLiteralString(s, stead)
	}
	for n := min(len(key)-1, telling); n >= recognisable; n-- {
		s = strings.ReplaceAll(s, key[:n]+cutOff, stead+cutOff)
	}
	return withoutRuns(s, key, stead)
}

// telling is how many characters of a key give away a part of it, wherever in the key they stand.
const telling = 8

// withoutRuns replaces every run of a key's characters. An upstream may quote the end or the middle of a key.
func withoutRuns(s, key, stead string) string {
	var b strings.Builder
	for kept := 0; ; {
		end := kept
		for end+telling <= len(s) && !strings.Contains(key, s[end:end+telling]) {
			end++
		}
		if end+telling > len(s) {
			b.WriteString(s[kept:])
			return b.String()
		}
		b.WriteString(s[kept:end])
		b.WriteString(stead)
		for kept = end + telling; kept < len(s) && strings.Contains(key, s[end:kept+1]); kept++ {
		}
	}
}

// escaped matches a key as it may stand in raw JSON, where encoders write some characters behind a backslash or by
// their number: a slash, or what HTML gives a meaning to. Where JSON stands in a text of JSON, there are more
// backslashes.
func escaped(key string) *regexp.Regexp {
	var pattern strings.Builder
	for _, c := range key {
		fmt.Fprintf(&pattern, `(?:\\*%s|\\+u(?i:%04x))`, regexp.QuoteMeta(string(c)), c)
	}
	return regexp.MustCompile(pattern.String())
}
