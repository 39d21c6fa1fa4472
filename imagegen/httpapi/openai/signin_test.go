package openai_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/httpapi/openai"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

// Whom the host has signed in makes images without a key, but not by a page of another site.
func TestSignInOfTheHost(t *testing.T) {
	s := serve(t, openai.Options{Authenticate: func(r *http.Request) (engine.Caller, error) {
		if _, err := r.Cookie("session"); err != nil {
			return engine.Caller{}, imagegen.ErrMissingKey
		}
		return engine.Caller{User: imagegentest.Bob}, nil
	}})
	ask := func(header ...string) int {
		body := strings.NewReader(`{"model":"fake-1","prompt":"a fox","size":"64x64"}`)
		return s.do(http.MethodPost, "/v1/images/generations", body, header...).StatusCode
	}
	left := func() imagegen.Credits {
		b, err := s.As(imagegentest.Bob).Balance(t.Context())
		s.is.NoErr(err)
		return b.Credits
	}
	s.is.Equal(ask("Authorization", "-", "Cookie", "session=1"), http.StatusOK)
	s.is.Equal(left(), imagegen.Credits(2))
	s.is.Equal(ask("Authorization", "-"), http.StatusUnauthorized)
	s.is.Equal(ask("Authorization", "-", "Cookie", "session=1", "Sec-Fetch-Site", "cross-site"),
		http.StatusUnauthorized)
	s.is.Equal(ask("Cookie", "session=1"), http.StatusOK) // Alice's key
	s.is.Equal(left(), imagegen.Credits(2))
}
