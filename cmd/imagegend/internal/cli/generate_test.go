package cli_test

import (
	"bytes"
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/cli"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
)

// newEngine starts an engine in memory with one user, who has 10 credits and a key.
func newEngine(t *testing.T, change ...func(*engine.Config)) (service *engine.Engine, user imagegen.UserID,
	key string) {
	t.Helper()
	is := is.New(t)
	db := memory.New(nil)
	config := engine.Config{Store: db, Ledger: db, Models: []engine.Model{
		{ID: "fake-1", Provider: &provider.Fake{}, Credits: map[imagegen.Tier]imagegen.Credits{"1K": 1, "2K": 4}},
	}}
	for _, c := range change {
		c(&config)
	}
	service, err := engine.New(config)
	is.NoErr(err)
	is.NoErr(service.Start())
	t.Cleanup(func() { service.Stop(context.Background()) })
	u, err := service.Accounts().CreateUser(t.Context(), "alice", "")
	is.NoErr(err)
	_, err = db.Grant(t.Context(), imagegen.Grant{User: u.ID, Credits: 10})
	is.NoErr(err)
	secret, _, err := service.Accounts().MintKey(t.Context(), u.ID, "k", time.Time{})
	is.NoErr(err)
	return service, u.ID, secret.Reveal()
}

// asked is what a test answers instead of the service, unless it returns false.
type asked func(w http.ResponseWriter, r *http.Request) bool

// newService serves an engine in an empty directory and returns the environment that reaches it.
func newService(t *testing.T, instead asked) map[string]string {
	t.Helper()
	t.Chdir(t.TempDir())
	service, _, key := newEngine(t)
	handler := httpapi.NewHandler(service, httpapi.Options{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if instead == nil || !instead(w, r) {
			handler.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return map[string]string{"IMAGEGEND_URL": server.URL, "IMAGEGEND_API_KEY": key}
}

// An interrupted command says that the work goes on, and where to find it.
func TestGenerateInterrupted(t *testing.T) {
	tests := []struct {
		name, method, path string
		args               []string
		want               []string
	}{
		{"synchronous", http.MethodPost, "/api/v1/images/generations", nil,
			[]string{"interrupted; the work may go on and be charged", "/api/v1/generations lists"}},
		{"asynchronous", http.MethodGet, "/api/v1/generations/", []string{"--async"},
			[]string{"interrupted; generation gen_", "goes on", "/api/v1/generations/gen_"}},
		{"before anything was asked for", http.MethodGet, "/api/v1/models", nil, []string{"imagegend: interrupted\n"}},
		{"while saving", http.MethodGet, "/images/", nil, []string{"was charged", "interrupted", "/images/"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			env := newService(t, func(w http.ResponseWriter, r *http.Request) bool {
				if strings.HasSuffix(r.URL.Path, "/cancel") { // an upstream works on it
					w.Header().Set("Content-Type", "application/json")
					w.WriteHeader(http.StatusConflict)
					io.WriteString(w, `{"error":{"code":"notCancellable","message":"it is being made"}}`)
					return true
				}
				if r.Method != test.method || !strings.HasPrefix(r.URL.Path, test.path) {
					return false
				}
				io.Copy(io.Discard, r.Body) // or the server would not notice that the client is gone
				interrupt()
				<-r.Context().Done()
				return true
			})
			var stdout, stderr bytes.Buffer
			args := append([]string{"generate", "fox", "--size", "64x64"}, test.args...)
			defer setEnv(t, env)()
			code := cli.Run(ctx, args, strings.NewReader(""), &stdout, &stderr)
			is.Equal(code, cli.ExitError)
			is.Equal(stdout.String(), "")
			is.Equal(strings.Count(stderr.String(), "\n"), 1)
			says(t, stderr.String(), test.want...)
		})
	}
}

// An interrupt cancels work that still waits for its turn.
func TestGenerateInterruptedInTime(t *testing.T) {
	is := is.New(t)
	t.Chdir(t.TempDir())
	service, user, key := newEngine(t, func(c *engine.Config) { c.Limits.Concurrency = 1 })
	t.Cleanup(func() { service.Stop(t.Context()) }) // which is cancelled by then, as is what hangs
	first, err := service.As(user).Generate(t.Context(), imagegen.GenerateRequest{Model: "fake-1",
		Prompt: "[fake:hang] fox", Async: true})
	is.NoErr(err)
	for g := first.Generation; g.Status == imagegen.StatusQueued; { // it has the only slot
		g, err = service.As(user).Generation(t.Context(), first.ID)
		is.NoErr(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	handler := httpapi.NewHandler(service, httpapi.Options{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/api/v1/generations/") {
			interrupt()
			<-r.Context().Done()
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	defer setEnv(t, map[string]string{"IMAGEGEND_URL": server.URL, "IMAGEGEND_API_KEY": key})()
	var stdout, stderr bytes.Buffer
	is.Equal(cli.Run(ctx, []string{"generate", "a hare", "--async"}, strings.NewReader(""), &stdout, &stderr),
		cli.ExitError)
	says(t, stderr.String(), "interrupted; generation gen_", "was cancelled, and its credits are back")
	b, err := service.As(user).Balance(t.Context())
	is.NoErr(err)
	is.Equal(b.Credits, imagegen.Credits(9)) // of the one that hangs
}

var says = daemontest.Says

// When an image cannot be saved, the error says where to fetch it.
func TestGenerateCannotSave(t *testing.T) {
	is := is.New(t)
	images := 0
	env := newService(t, func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasPrefix(r.URL.Path, "/images/") {
			return false
		}
		if images++; images == 1 {
			return false
		}
		http.Error(w, `{"error":{"message":"gone for now","code":"notFound"}}`, http.StatusNotFound)
		return true
	})
	got := imagegend(t, env, "generate", "fox", "--size", "64x64", "--n", "3", "-o", "fox.png")
	is.Equal(got.code, cli.ExitError)
	is.Equal(got.stdout, "fox-1.png\n")
	is.Equal(strings.Count(got.stderr, "/images/"), 2) // the two that are not here
	says(t, got.stderr, "generation gen_", "was charged", "gone for now", env["IMAGEGEND_URL"]+"/images/")
}

// A target that cannot be written is refused before anything is paid for.
func TestGenerateTriesItsTarget(t *testing.T) {
	is := is.New(t)
	env := newService(t, func(_ http.ResponseWriter, r *http.Request) bool {
		t.Errorf("%s %s was asked for", r.Method, r.URL.Path)
		return false
	})
	is.NoErr(os.MkdirAll("fox-2.png", 0o777))
	got := imagegend(t, env, "generate", "fox", "--n", "2", "-o", "fox.png")
	is.Equal(got, outcome{cli.ExitError, "",
		"imagegend: fox-2.png cannot be written: it is a directory; name another file with -o\n"})
}

// The trial leaves no trace.
func TestGenerateLeavesNoTrace(t *testing.T) {
	is := is.New(t)
	env := newService(t, nil)
	is.Equal(imagegend(t, env, "generate", "fox", "--model", "none", "-o", "fox.png").code, cli.ExitError)
	is.Equal(imagegend(t, env, "generate", "fox", "--model", "none").code, cli.ExitError)
	files, err := os.ReadDir(".")
	is.NoErr(err)
	is.Equal(len(files), 0)
}

// The errors about refused requests say what to do.
func TestGenerateRefused(t *testing.T) {
	limited := func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusPaymentRequired)
			io.WriteString(w,
				`{"error":{"code":"insufficientCredits","message":"the API key \"k\" is limited to 1 credits a day"}}`)
		}
		return r.Method == http.MethodPost
	}
	noModels := func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path == "/api/v1/models" {
			io.WriteString(w, `{"object":"list","data":[]}`)
		}
		return r.URL.Path == "/api/v1/models"
	}
	tests := []struct {
		name    string
		instead asked
		path    string // behind the address of the service
		args    []string
		want    []string
	}{
		{"a reference that is not an image", nil, "", []string{"--ref", "t.txt"}, []string{`"t.txt"`}},
		{"an address with the path of the API", nil, "/api/v1", nil,
			[]string{"/api/v1; --url is its address without /api/v1"}},
		{"a key that is not valid", nil, "", []string{"--api-key", "img_live_wrong"},
			[]string{"imagegend key create --user NAME"}},
		{"too few credits", nil, "", []string{"--n", "4", "--quality", "medium"}, []string{"costs 16; it has 10;",
			"imagegend credit grant --user NAME N"}},
		{"a key at its limit", limited, "", nil, []string{"is limited to 1 credits a day;",
			"changes what a key may use with imagegend key limit"}},
		{"no models", noModels, "", nil, []string{"the service has no models"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			env := newService(t, test.instead)
			env["IMAGEGEND_URL"] += test.path
			is.NoErr(os.WriteFile("t.txt", []byte("no image"), 0o600))
			got := imagegend(t, env, append([]string{"generate", "fox"}, test.args...)...)
			is.Equal(got.code, cli.ExitError)
			is.Equal(strings.Count(got.stderr, "\n"), 1)
			says(t, got.stderr, test.want...)
		})
	}
}

// The error names a self-signed certificate as the cause, not a service that does not run.
func TestGenerateWithoutTrust(t *testing.T) {
	t.Chdir(t.TempDir())
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	got := imagegend(t, nil, "generate", "fox", "--url", s.URL, "--api-key", "x")
	is.New(t).Equal(got.code, cli.ExitError)
	says(t, got.stderr, "the certificate of "+s.URL+" is not trusted", "$SSL_CERT_FILE")
}
