package clients

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// browsers are the programs, and how each is started without a window.
var browsers = map[string]func(profile string) *exec.Cmd{
	"Chrome/": func(profile string) *exec.Cmd {
		return exec.Command(named("CHROMIUM", "chromium"), "--headless", "--no-sandbox", "--disable-gpu",
			"--no-first-run", "--disable-component-update", "--user-data-dir="+profile)
	},
	"Firefox/": func(profile string) *exec.Cmd {
		return exec.Command(named("FIREFOX", "firefox-esr"), "--headless", "--no-remote", "--profile", profile)
	},
}

// named is the program that a variable names, else the usual one.
func named(variable, usual string) string {
	if program := os.Getenv(variable); program != "" {
		return program
	}
	return usual
}

// A page of another origin makes images with OpenAI's library: the browser asks beforehand whether it may send the
// headers of that library, and refuses the call if one of them is not granted.
func TestBrowser(t *testing.T) {
	for agent, start := range browsers {
		t.Run(strings.TrimSuffix(agent, "/"), func(t *testing.T) {
			is := is.New(t)
			results := make(chan result, 1)
			page := httptest.NewUnstartedServer(nil)
			origin := "http://" + page.Listener.Addr().String()
			d := daemontest.Start(t, daemontest.Options{Args: []string{"--cors-origin", origin}})
			_, key := d.NewUser(10)
			page.Config.Handler = serving(d.URL, key, results)
			page.Start()
			defer page.Close()

			cmd := start(t.TempDir())
			cmd.Args = append(cmd.Args, origin)
			is.NoErr(cmd.Start())
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			defer func() { cmd.Process.Kill(); <-ended }()
			select {
			case got := <-results:
				is.True(strings.Contains(got.Agent, agent))
				is.Equal(got.Error, "")
				is.Equal(got.Sizes, []string{"64x48", "64x48"})
			case err := <-ended:
				ended <- err
				t.Fatalf("the browser ended before the page did: %v", err)
			case <-time.After(2 * time.Minute):
				t.Fatal("the page sent nothing within two minutes")
			}
			is.Equal(d.MustBalance(t, key), 8)
		})
	}
}

// result is what the page tells.
type result struct {
	Sizes        []string
	Error, Agent string
}

// serving has the page and OpenAI's library as npm installs it, tells the page where the service is, and takes its
// result.
func serving(base, key string, results chan<- result) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /openai/", http.StripPrefix("/openai/",
		scripts(http.FileServer(http.Dir("node/node_modules/openai")))))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, "node/browser.html")
	})
	mux.HandleFunc("GET /service", func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(map[string]string{"base": base, "key": key})
	})
	mux.HandleFunc("POST /result", func(_ http.ResponseWriter, r *http.Request) {
		var got result
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			got.Error = err.Error()
		}
		select {
		case results <- got:
		default: // the page was loaded again
		}
	})
	return mux
}

// scripts names the type of modules, without which no browser runs them.
func scripts(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		h.ServeHTTP(w, r)
	})
}
