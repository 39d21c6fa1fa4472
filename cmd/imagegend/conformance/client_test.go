package conformance_test

import (
	"image/png"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

const generateLine = "contract: | `generate PROMPT [-o FILE]"

var generateChecks = []check{
	{name: "the client", lines: []string{generateLine}, daemon: checkClient},
	{name: "the client waits", lines: []string{generateLine}, daemon: checkClientWaits},
	{name: "the client sends an Idempotency-Key", lines: []string{generateLine}, daemon: checkClientKey},
	{name: "the client needs no server", lines: []string{generateLine}, daemon: checkClientAlone},
	{name: "the client asks for a price", lines: []string{"contract: | `quote PROMPT`"}, daemon: checkClientQuote},
}

// caller is a program with the environment of a client.
func (a *customer) caller(t *testing.T) program {
	t.Helper()
	return program{dir: t.TempDir(), env: []string{"IMAGEGEND_URL=" + a.url, "IMAGEGEND_API_KEY=" + a.key}}
}

func checkClient(t *testing.T) {
	is := is.New(t)
	a := serviceOf(daemontest.Start(t, daemontest.Options{})).account(t, 20)
	p := a.caller(t)
	is.Equal(p.run(t, "generate", "a fox", "-o", "fox.png", "--size", "64x48").succeeds(t).stdout, "fox.png\n")
	several := p.run(t, "generate", "a fox", "-o", "fox.png", "--n", "2", "--size", "64x48", "--quality", "low").succeeds(t)
	is.Equal(several.stdout, "fox-1.png\nfox-2.png\n")
	for _, name := range []string{"fox.png", "fox-1.png", "fox-2.png"} {
		picture, err := png.Decode(strings.NewReader(read(t, p.dir, name)))
		is.NoErr(err)
		is.Equal(picture.Bounds().Size().String(), "(64,48)")
	}
	named := program{dir: p.dir}.run(t, "generate", "a vixen", "--size", "64x48", "--ref", "fox.png", "--ref", "fox-1.png",
		"--url", a.url, "--api-key", a.key).succeeds(t)
	is.Equal(named.stdout, "a-vixen.png\n")
	newest := a.list(t, "?limit=2")["data"].([]any)
	same(t, newest[0].(object)["reference_count"], 2)
	same(t, []any{newest[1].(object)["n"], newest[1].(object)["requested_quality"]}, []any{2, "low"})
	same(t, a.credits(t), 16)

	p.run(t, "generate", "[fake:fail]").fails(t, 1, failedMessage)
	p.run(t, "generate", "a fox", "--size", "310x100").fails(t, 1, "3:1")
	program{dir: p.dir, env: []string{"IMAGEGEND_URL=" + a.url}}.run(t, "generate", "a fox").fails(t, 1, "IMAGEGEND_API_KEY")
	program{dir: p.dir, env: append(p.env, "IMAGEGEND_API_KEY=nonsense")}.run(t, "generate", "a fox").fails(t, 1, "API key")
	same(t, a.credits(t), 16)
}

func checkClientQuote(t *testing.T) {
	is := is.New(t)
	a := serviceOf(daemontest.Start(t, daemontest.Options{})).account(t, 5)
	p := a.caller(t)
	asked := []string{"a fox", "--size", "2048x2048", "--n", "2"}
	price := p.run(t, append([]string{"quote"}, asked...)...).succeeds(t)
	is.Equal(price.stdout, "4 credits for 2 images of fake-1, 1:1 in 2K; the account has 5\n")
	same(t, a.credits(t), 5)
	p.run(t, append([]string{"generate"}, asked...)...).succeeds(t)
	same(t, a.credits(t), 1) // which is what was said
}

func checkClientWaits(t *testing.T) {
	is := is.New(t)
	a := serviceOf(daemontest.Start(t, daemontest.Options{})).account(t, 20)
	p := a.caller(t)
	is.Equal(p.run(t, "generate", "[fake:delay=200ms] a fox", "-o", "fox.png", "--async", "--size", "64x48").succeeds(t).stdout, "fox.png\n")
	is.True(strings.HasPrefix(read(t, p.dir, "fox.png"), "\x89PNG"))
	id := strings.TrimSpace(p.run(t, "generate", "a fox", "--no-wait", "--size", "64x48").succeeds(t).stdout)
	same(t, a.ended(t, id)["status"], "succeeded")
	is.Equal(files(t, p.dir), []string{"fox.png"})
	p.run(t, "generate", "[fake:fail]", "--async").fails(t, 1, failedMessage)
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

func checkClientAlone(t *testing.T) {
	is := is.New(t)
	dir, tmp := t.TempDir(), t.TempDir()
	p := program{dir: dir, env: []string{"TMPDIR=" + tmp}}
	is.Equal(p.run(t, "generate", "a fox", "--dev", "-o", filepath.Join(dir, "f.png"), "--n", "2", "--size", "64x48").succeeds(t).status, 0)
	is.Equal(slices.Sorted(slices.Values(files(t, dir))), []string{"f-1.png", "f-2.png"})
	is.Equal(len(files(t, tmp)), 0)
}
