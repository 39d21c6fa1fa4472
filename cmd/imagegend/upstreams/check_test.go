package upstreams_test

import (
	"net/http"
	"net/http/httputil"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// The check says of each upstream whether it answers and takes the key, and nothing of the key.
func TestProviderCheck(t *testing.T) {
	address := serve(t, guarded(handler(probes)))
	for name, c := range map[string]struct {
		address, key string
		says         string
		status       int
	}{
		"ready":       {address, theKey, "answers", 0},
		"bad key":     {address, "another-key", "refused the", 1},
		"unreachable": {"http://127.0.0.1:1", theKey, "could not be reached", 1},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			stdout, stderr, status := check(t, c.key, "--models", providersAt(t, c.address))
			is.Equal(status, c.status)
			is.True(!strings.Contains(stdout+stderr, c.key))
			for model := range allProviders {
				_, said, found := strings.Cut(stdout, model+" by ")
				said, _, _ = strings.Cut(said, "\n\n")
				said = strings.Join(strings.Fields(said), " ") // lines are wrapped
				if !found || !strings.Contains(said, c.says) || strings.Contains(said, "NOT READY") != (c.status == 1) {
					t.Errorf("of %s is not said that it %s: %s", model, c.says, said)
				}
				if !strings.Contains(said, "ratios") || !strings.Contains(said, "1K for 1 credit") {
					t.Errorf("of %s is not said what it can do: %s", model, said)
				}
			}
			is.Equal(strings.Contains(stderr, "not ready: 7 of 7 models"), c.status == 1)
		})
	}
}

// check runs provider check with a key in the environment.
func check(t *testing.T, key string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	c := exec.Command(daemontest.Build(t), append([]string{"provider", "check"}, args...)...)
	c.Env = append(os.Environ(), keyName+"="+key)
	return daemontest.Run(t, c)
}

// guarded refuses requests without the key and repeats what was sent.
func guarded(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, _ := httputil.DumpRequest(r, false) // there is no body to read
		if carries(string(sent)) {
			h.ServeHTTP(w, r)
			return
		}
		w.WriteHeader(http.StatusUnauthorized)
		w.Write(sent)
	})
}

// probes are what upstreams answer who asks whether they are well.
var probes = routes{
	"GET /v1/models/gpt-image-2": func(w http.ResponseWriter, _ *http.Request) {
		answer(w, object{"id": "gpt-image-2"})
	},
	"GET /v1beta/models/gemini-3-pro-image": func(w http.ResponseWriter, _ *http.Request) {
		answer(w, object{"name": "gemini-3-pro-image"})
	},
	"GET /sdapi/v1/sd-models": func(w http.ResponseWriter, _ *http.Request) {
		answer(w, []object{{"title": "sdxl"}})
	},
	"GET /system_stats": func(w http.ResponseWriter, _ *http.Request) { answer(w, object{}) },
	"GET /object_info/{class}": func(w http.ResponseWriter, r *http.Request) {
		answer(w, object{r.PathValue("class"): object{"input": 1}})
	},
	"GET /v1/credits":         func(w http.ResponseWriter, _ *http.Request) { answer(w, object{"credits": 12.5}) },
	"GET /v1/models/acme/fox": func(w http.ResponseWriter, _ *http.Request) { answer(w, object{"name": "fox"}) },
	"GET /platform/models/pricing": func(w http.ResponseWriter, _ *http.Request) {
		answer(w, object{"prices": []any{}})
	},
}
