package upstream_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

func TestRedacted(t *testing.T) {
	const key = "sk-proj-0123456789"
	c, err := upstream.New(upstream.Options{BaseURL: "https://api.example.com", Key: key})
	if err != nil {
		t.Fatal(err)
	}
	cause := &upstream.StatusError{Status: 400, Excerpt: "your key is " + key}
	long := strings.Repeat("x", 290) + " " + key // the excerpt cuts it off
	inner := &imagegen.ProviderError{Class: imagegen.ClassRefused, Message: key, Err: errors.New(key)}
	for name, err := range map[string]error{
		"in the message": &imagegen.ProviderError{Class: imagegen.ClassRefused, Message: "not with " + key},
		"in the cause":   &imagegen.ProviderError{Class: imagegen.ClassRefused, Message: "no", Err: cause},
		"cut off": &imagegen.ProviderError{Class: imagegen.ClassRefused,
			Err: errors.New(upstream.Excerpt([]byte(long)))},
		"cut off, and in quotes": &imagegen.ProviderError{Class: imagegen.ClassRefused,
			Err: fmt.Errorf("the status is %q", upstream.Excerpt([]byte(long)))},
		"below another":  fmt.Errorf("%s: %w", key, inner),
		"beside another": errors.Join(inner, errors.New("the job cannot be kept")),
		"half of it": &imagegen.ProviderError{Class: imagegen.ClassRefused, Message: "not with " +
			key[:9] + "***", Err: errors.New(key[:9])},
		"its end": &imagegen.ProviderError{Class: imagegen.ClassRefused, Message: "not with ***" +
			key[10:], Err: errors.New(key[9:] + key[9:])},
		"its middle": &imagegen.ProviderError{Class: imagegen.ClassRefused, Message: "the key x" +
			key[5:13] + "x is unknown"},
		"nothing to be concealed": &imagegen.ProviderError{Class: imagegen.ClassRefused, Message: "no",
			Err: errors.New("no")},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			for _, got := range c.Redacted(t.Context(), func(upstream.Yield) error { return err }) {
				is.True(!strings.Contains(got.Error(), key[:4]))
				for i := range len(key) - 7 {
					is.True(!strings.Contains(got.Error(), key[i:i+8]))
				}
				e, ok := errors.AsType[*imagegen.ProviderError](got)
				is.True(ok)
				is.Equal(e.Class, imagegen.ClassRefused)
				is.True(!strings.Contains(e.Message, key))
				if status, ok := errors.AsType[*upstream.StatusError](err); ok {
					same, _ := errors.AsType[*upstream.StatusError](got)
					is.Equal(same, status) // what decides by the status still can
				}
			}
		})
	}
}

// An answer that is not a success is quoted as it came, and JSON has several ways to write a key.
func TestRedactedInRawJSON(t *testing.T) {
	const key = "K/y+0123456789=="
	for name, body := range map[string]string{
		"as it is":      `{"error":"no K/y+0123456789=="}`,
		"a slash":       `{"error":"no K\/y+0123456789=="}`,
		"numbers":       `{"error":"no K/y\u002B0123456789\u003d\u003d"}`,
		"JSON in JSON":  `{"error":"no K\\\/y\\u002B0123456789=="}`,
		"both together": `{"error":"no K\/y\u002b0123456789\u003D="}`,
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusUnauthorized)
				io.WriteString(w, body)
			}))
			defer s.Close()
			c, err := upstream.New(upstream.Options{BaseURL: s.URL, Key: key, Private: true})
			is.NoErr(err)
			_, err = c.Do(t.Context(), http.MethodGet, "/", nil)
			is.True(strings.Contains(err.Error(), `{"error":"no [redacted]"}`))
		})
	}
}
