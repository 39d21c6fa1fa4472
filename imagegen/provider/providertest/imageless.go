package providertest

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// imageless: an upstream that answers everything with 200 and without an image has failed. The error quotes what it
// said, which may be all that explains it, but never the key.
func imageless(t *testing.T, c Config) {
	if c.Answering == nil {
		return
	}
	const said = "your balance is too low"
	for _, answer := range []string{
		`{"error":"KEY: ` + said + `"}`,
		`{"code":40012,"msg":"KEY: ` + said + `"}`,
		`{"data":[],"note":"KEY: ` + said + `"}`,
		`{"data":null,"note":"KEY: ` + said + `"}`,
		`{"images":null,"note":"KEY: ` + said + `"}`,
		`<html>KEY: ` + said + `</html>`,
	} {
		t.Run(answer, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			keys := make(chan string, 100)
			p := c.Answering(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				key := keyOf(r.Header)
				select {
				case keys <- key:
				default: // enough are known
				}
				w.Header().Set("Content-Type", "application/json")
				io.WriteString(w, strings.ReplaceAll(answer, "KEY", key))
			}))
			sizes, ended := collect(t, t.Context(), p, c.request(p))
			is.Equal(len(sizes), 0)
			e := Error(t, ended)
			if !strings.Contains(ended.Error(), said) {
				t.Errorf("the error does not say what the upstream said: %v", ended)
			}
			is.True(!e.Class.Transient()) // it may have cost
			if key := <-keys; key != "" {
				is.True(!strings.Contains(ended.Error(), key))
			}
		})
	}
}

// keyOf is the secret that a request carries; "" if there is none.
func keyOf(h http.Header) string {
	for _, name := range []string{"Authorization", "X-Key", "X-Goog-Api-Key"} {
		if v := h.Get(name); v != "" && !strings.HasPrefix(v, "Basic ") {
			return v[strings.IndexByte(v, ' ')+1:]
		}
	}
	return ""
}
