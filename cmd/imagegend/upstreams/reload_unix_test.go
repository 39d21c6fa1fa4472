//go:build unix

package upstreams_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// reloading is a daemon whose models.yaml is changed under it.
type reloading struct {
	*testing.T
	*daemontest.Daemon
	dir     string
	address string // of the upstream
}

// write changes a file beside models.yaml, or that itself.
func (r *reloading) write(name, text string) {
	r.Helper()
	text = strings.ReplaceAll(text, "ADDRESS", r.address)
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o600); err != nil {
		r.Fatal(err)
	}
}

// reload has other models read, and returns what the log says of it.
func (r *reloading) reload(models string) (said string) {
	r.Helper()
	lines := func() []string {
		return slices.DeleteFunc(strings.Split(r.Output(), "\n"), func(l string) bool {
			return !strings.Contains(l, "the models were")
		})
	}
	before := len(lines())
	r.write("models.yaml", models)
	if err := r.Signal(syscall.SIGHUP); err != nil {
		r.Fatal(err)
	}
	daemontest.Eventually(r.T, limit, "the daemon tells of the reload", func() bool { return len(lines()) > before })
	return lines()[before]
}

func (r *reloading) models() (etag string, ids []string) {
	answer := r.Call(daemontest.Request{Path: "/api/v1/models"})
	var list struct{ Data []struct{ ID string } }
	answer.Into(r.T, &list)
	for _, m := range list.Data {
		ids = append(ids, m.ID)
	}
	return answer.Header.Get("Etag"), ids
}

// startReloading starts a daemon on models of which ADDRESS is the upstream.
func startReloading(t *testing.T, upstream http.Handler, models string) *reloading {
	r := &reloading{T: t, dir: t.TempDir(), address: serve(t, upstream)}
	r.write("key", "key one")
	r.write("models.yaml", models)
	r.Daemon = daemontest.Start(t, daemontest.Options{Args: []string{"--models", filepath.Join(r.dir, "models.yaml")}})
	return r
}

// keys are those that an upstream was sent.
type keys struct {
	mu   sync.Mutex
	sent []string
}

func (k *keys) watch(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if key := r.Header.Get("X-Key"); key != "" {
			k.mu.Lock()
			k.sent = append(k.sent, key)
			k.mu.Unlock()
		}
		h.ServeHTTP(w, r)
	})
}

// take returns each key once that was sent since it was called last.
func (k *keys) take() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	sent := k.sent
	k.sent = nil
	slices.Sort(sent)
	return slices.Compact(sent)
}

const (
	flux  = "{type: bfl, base_url: ADDRESS/v1, private: true, poll_interval: 10ms, key_file: key}"
	foxes = "models:\n  - {id: fox, credits: {1K: 1}, provider: " + flux + "}\n"
	owl   = "  - {id: owl, credits: {1K: 2}, provider: {type: fake}}\n"
)

// Models are read anew at SIGHUP: new requests see the new ones, what runs keeps its provider, and what accepted
// work needs stays.
func TestReload(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	upstream, sent := &tasks{}, &keys{}
	r := startReloading(t, sent.watch(handler(upstream.bfl())), foxes)
	_, key := r.NewUser(100)
	etag, _ := r.models()
	running := queue(t, r.Daemon, key, "fox", 1)
	daemontest.Eventually(t, limit, "the upstream is asked about the task", func() bool {
		return upstream.unasked(1) == 0
	})

	for models, want := range map[string][]string{
		"models:\n" + owl: {`model \"fox\" cannot be dropped: accepted generations need it: 1;`},
		strings.Replace(foxes, "key_file: key", "key_file: ./key",
			1): {`model \"fox\" cannot change its provider's type, address or account`, "need it: 1;"},
		strings.Replace(foxes, "ADDRESS", "http://127.0.0.1:1", 1): {`model \"fox\" cannot change`},
		strings.Replace(foxes, flux, "{type: fake}", 1):            {`model \"fox\" cannot change`},
		foxes + "    colour: red\n":                                {"models.yaml:"},
		"":                                                         {"lists no model"},
	} {
		said := r.reload(models)
		for _, w := range append(want, "not reloaded, the old ones stay") {
			if !strings.Contains(said, w) {
				t.Errorf("%q does not say %q", said, w)
			}
		}
		same, ids := r.models()
		is.Equal(same, etag)
		is.Equal(ids, []string{"fox"})
	}

	is.Equal(sent.take(), []string{"key one"})
	r.write("key", "key two")
	said := r.reload(strings.Replace(strings.Replace(foxes, "1K: 1", "1K: 7", 1), "{id: fox", "{id: fox, retired: true",
		1) + owl)
	for _, want := range []string{"fox: retired, credits 1K 7 instead of credits 1K 1", "owl: added, credits 1K 2"} {
		is.True(strings.Contains(said, want))
	}
	anew, ids := r.models()
	is.True(anew != etag)
	is.Equal(ids, []string{"owl"})
	ask := func(model string) daemontest.Answer {
		return r.Call(daemontest.Generate(key, object{"model": model, "prompt": "a fox"}))
	}
	hidden, unknown := ask("fox"), ask("cat")
	is.Equal(hidden.Status, http.StatusBadRequest)
	is.Equal(string(hidden.Body), strings.ReplaceAll(string(unknown.Body), "cat", "fox"))
	is.Equal(ask("owl").Status, http.StatusOK)

	upstream.finish()
	got := await(t, r.Daemon, key, running.ID)
	is.Equal(got.Status, "succeeded")
	is.Equal(got.Usage.Credits, 1)             // at the price of its acceptance
	is.Equal(sent.take(), []string{"key one"}) // the attempt ran
	is.True(strings.Contains(r.reload(foxes+owl), "fox: offered again"))
	is.Equal(ask("fox").Status, http.StatusOK)
	is.Equal(sent.take(), []string{"key two"})
	is.True(strings.Contains(r.reload("models:\n"+owl), "fox: removed"))
	is.Equal(r.Daemon.MustBalance(t, key), 100-1-2-1)

	acts := r.Admin("trail", "--act", "serve.reload")
	is.Equal(strings.Count(acts, "refused"), 6)
	is.Equal(strings.Count(acts, "done"), 3)
	is.True(!strings.Contains(r.Output()+acts, "key one"))
	r.Admin("audit")
}

// A repeated call gets what was charged, also if its model was retired meanwhile.
func TestRepeatedCallOfARetiredModel(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	upstream := &tasks{}
	r := startReloading(t, handler(upstream.bfl()), foxes)
	_, key := r.NewUser(10)
	ask := daemontest.Generate(key, object{"model": "fox", "prompt": "a fox"})
	ctx, hangUp := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		_, err := r.Do(ctx, ask)
		gone <- err
	}()
	daemontest.Eventually(t, limit, "the upstream is asked about the task", func() bool {
		return upstream.unasked(1) == 0
	})
	hangUp()
	is.True(<-gone != nil)
	is.True(strings.Contains(r.reload(strings.Replace(foxes, "{id: fox", "{id: fox, retired: true", 1)+owl),
		"fox: retired"))
	upstream.finish()
	got := r.Call(ask.With("X-Stainless-Retry-Count", "1"))
	is.Equal(got.Status, http.StatusOK)
	is.Equal(got.Header.Get("Idempotent-Replayed"), "true")
	is.Equal(r.Call(ask).Status, http.StatusBadRequest) // the answer was received
	is.Equal(r.Daemon.MustBalance(t, key), 9)
}

// A task at one account is not taken up, nor given to another one, with the key of that: it waits for its own.
func TestJobOfAnotherAccount(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	upstream, sent := &tasks{}, &keys{}
	r := startReloading(t, sent.watch(handler(upstream.bfl())), foxes)
	_, key := r.NewUser(10)
	g := queue(t, r.Daemon, key, "fox", 1)
	daemontest.Eventually(t, limit, "the upstream is asked about the task", func() bool {
		return upstream.unasked(1) == 0
	})
	r.Kill()
	sent.take()
	r.write("other", "key of another account")
	r.write("models.yaml", strings.Replace(foxes, "key_file: key", "key_file: other", 1))
	start := func() {
		r.Daemon = daemontest.Start(t, daemontest.Options{DataDir: r.DataDir, Args: []string{"--models",
			filepath.Join(r.dir, "models.yaml")}})
	}
	start()
	daemontest.Eventually(t, limit, "the generation is left", func() bool {
		return strings.Contains(r.Output(), "its upstream job was saved by")
	})
	is.Equal(cmp.Diff([]string(nil), sent.take()), "")
	is.Equal(r.Terminate(10*time.Second), 0)
	r.write("models.yaml", foxes)
	upstream.finish()
	start()
	is.Equal(await(t, r.Daemon, key, g.ID).Status, "succeeded")
	is.Equal(r.Daemon.MustBalance(t, key), 9)
	submitted, _ := upstream.count()
	is.Equal(submitted, 1)
	is.Equal(r.Terminate(10*time.Second), 0)
	r.Admin("audit")
}
