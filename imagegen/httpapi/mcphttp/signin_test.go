package mcphttp_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/httpapi/mcphttp"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

// Whom the host has signed in can use the tools without a key, but not by a page of another site.
func TestSignInOfTheHost(t *testing.T) {
	s := serve(t, mcphttp.Options{Authenticate: func(r *http.Request) (engine.Caller, error) {
		if _, err := r.Cookie("session"); err != nil {
			return engine.Caller{}, imagegen.ErrMissingKey
		}
		return engine.Caller{User: imagegentest.Bob}, nil
	}})
	ask := func(header ...string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+mcphttp.Path, strings.NewReader(
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_balance","arguments":{}}}`))
		s.is.NoErr(err)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json")
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		response, err := http.DefaultClient.Do(r)
		s.is.NoErr(err)
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		s.is.NoErr(err)
		return response.StatusCode, string(body)
	}
	status, body := ask("Cookie", "session=1")
	s.is.Equal(status, http.StatusOK)
	s.is.True(strings.Contains(body, `"credits":3`))
	status, _ = ask()
	s.is.Equal(status, http.StatusUnauthorized)
	status, _ = ask("Cookie", "session=1", "Sec-Fetch-Site", "cross-site")
	s.is.Equal(status, http.StatusUnauthorized)
}
