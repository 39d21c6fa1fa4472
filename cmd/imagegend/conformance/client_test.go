package conformance_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

const generateLine = "contract: | `generate PROMPT [-o FILE]"

var generateChecks = []check{
	{name: "the client", lines: []string{generateLine}, elsewhere: []string{"cmd/imagegend.TestGenerate"}},
	{name: "the client waits", lines: []string{generateLine}, elsewhere: []string{"cmd/imagegend.TestGenerate",
		"cmd/imagegend/internal/cli.TestPersist"}},
	{name: "the client sends an Idempotency-Key", lines: []string{generateLine}, daemon: checkClientKey},
	{name: "the client needs no server", lines: []string{generateLine},
		elsewhere: []string{"cmd/imagegend.TestGenerateWithoutAServer"}},
	{name: "the client asks for a price", lines: []string{"contract: | `quote PROMPT`"},
		elsewhere: []string{"cmd/imagegend/internal/cli.TestQuote"}},
}

// caller is a program with the environment of a client.
func (a *customer) caller(t *testing.T) program {
	t.Helper()
	return program{dir: t.TempDir(), env: []string{"IMAGEGEND_URL=" + a.url, "IMAGEGEND_API_KEY=" + a.key}}
}

func checkClientKey(t *testing.T) {
	is := is.New(t)
	a := serviceOf(daemontest.Start(t, daemontest.Options{})).account(t, 20)
	target, err := url.Parse(a.url)
	is.NoErr(err)
	var mu sync.Mutex
	var keys []string
	forward := httputil.NewSingleHostReverseProxy(target)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			forward.ServeHTTP(w, r)
			return
		}
		mu.Lock()
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		first := len(keys) == 1
		mu.Unlock()
		if first { // the service works, and its answer is lost
			w = httptest.NewRecorder()
			defer panic(http.ErrAbortHandler)
		}
		forward.ServeHTTP(w, r)
	}))
	defer proxy.Close()
	p := a.caller(t)
	for range 2 {
		p.run(t, "generate", "a fox", "--size", "64x48", "--url", proxy.URL).succeeds(t)
	}
	is.Equal(len(keys), 3)
	is.True(keys[0] != "" && keys[0] == keys[1] && keys[2] != keys[1])
	same(t, a.credits(t), 18)
}
