package httpguard_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/internal/httpguard"
)

// A header that is sent twice is refused, also if both say the same: a proxy that reads the first one and a service
// that reads the last one would not understand the same request.
func TestOne(t *testing.T) {
	for name, test := range map[string]struct {
		sent []string
		want string
		err  error
	}{
		"none":         {nil, "", nil},
		"one":          {[]string{"a"}, "a", nil},
		"two":          {[]string{"a", "b"}, "", imagegen.ErrInvalidRequest},
		"twice":        {[]string{"a", "a"}, "", imagegen.ErrInvalidRequest},
		"an empty one": {[]string{"", "a"}, "", imagegen.ErrInvalidRequest},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			got, err := httpguard.One(http.Header{"Idempotency-Key": test.sent}, "Idempotency-Key")
			is.Equal(got, test.want)
			is.True(errors.Is(err, test.err))
		})
	}
}

// A key stands in one header, behind its scheme.
func TestBearer(t *testing.T) {
	for name, test := range map[string]struct {
		sent []string
		want string
		err  error
	}{
		"none":           {nil, "", imagegen.ErrMissingKey},
		"blank":          {[]string{" \t"}, "", imagegen.ErrMissingKey},
		"a key":          {[]string{"Bearer k"}, "k", nil},
		"spaces":         {[]string{"bEARER  k"}, "k", nil},
		"a tab":          {[]string{"Bearer\tk"}, "", imagegen.ErrInvalidKey},
		"another scheme": {[]string{"Basic k"}, "", imagegen.ErrInvalidKey},
		"no key":         {[]string{"Bearer "}, "", imagegen.ErrInvalidKey},
		"twice":          {[]string{"Bearer k", "Bearer k"}, "", imagegen.ErrInvalidKey},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			got, err := httpguard.Bearer(http.Header{"Authorization": test.sent})
			is.Equal(got, test.want)
			is.True(errors.Is(err, test.err))
		})
	}
}
