package upstreams_test

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httputil"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// The key of an upstream goes to the upstream and nowhere else: not into the log, not into the data,
// not to callers and not to the host that has the pictures, even if the upstream repeats it in every
// error.
func TestKeysStay(t *testing.T) {
	is := is.New(t)
	elsewhere, upstream := &recorder{}, &recorder{}
	behind := serve(t, elsewhere.record(http.HandlerFunc(sendBlank)))
	pictures := serve(t, elsewhere.record(http.RedirectHandler(behind+"/files/1.png", http.StatusFound)))
	s := &tasks{finished: true, images: otherHost(pictures)}
	address := serve(t, upstream.record(talkative(handler(s.openai(), s.gemini(), s.sdwebui(), s.comfyui(), s.bfl(),
		s.replicate(), s.fal()))))
	d := daemontest.Start(t, daemontest.Options{Args: []string{"--models", providersAt(t, address, otherHost(pictures),
		behind)}, Env: []string{keyName + "=" + theKey}})
	_, key := d.NewUser(100)

	statuses := []int{301, 400, 401, 403, 404, 429, 500, 503}
	var shown strings.Builder
	for model := range allProviders {
		for _, status := range statuses {
			a := d.Call(daemontest.Generate(key, object{"model": model, "prompt": failWith(status)}))
			is.Equal(a.Code(), "generationFailed")
			shown.Write(a.Body)
		}
		a := d.Call(daemontest.Generate(key, object{"model": model, "prompt": "a fox"}))
		is.Equal(a.Status, http.StatusOK) // the upstream takes the key
		shown.Write(a.Body)
	}
	shown.Write(d.Call(daemontest.Request{Path: "/api/v1/generations?limit=100", Key: key}).Body)

	is.Equal(upstream.carrying(), upstream.count()) // the key went to the upstream with every request
	is.Equal(elsewhere.count(), 2*4)                // two hosts, for each adapter that is named a picture's address
	is.Equal(elsewhere.carrying(), 0)
	is.True(!carries(shown.String()))
	is.Equal(d.Terminate(10*time.Second), 0)
	failures := strings.Count(d.Output(), repeated)
	is.Equal(failures, len(allProviders)*len(statuses)) // the log says what the upstream said
	is.True(!carries(d.Output()))
	is.Equal(filesCarrying(t, d.DataDir), []string(nil))
}

// otherHost is the same address by another name.
func otherHost(address string) string { return strings.Replace(address, "127.0.0.1", "localhost", 1) }

// failWith is a prompt that the upstream fails with a status.
func failWith(status int) string { return fmt.Sprintf("fail with %d", status) }

// repeated begins what the upstream repeats.
const repeated = "You have sent this"

// talkative repeats what was sent, the header included, where the prompt asks for a failure.
func talkative(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // what is missing is missed by h
		r.Body = io.NopCloser(bytes.NewReader(body))
		_, rest, asked := strings.Cut(string(body), "fail with ")
		if !asked {
			h.ServeHTTP(w, r)
			return
		}
		var status int
		fmt.Sscanf(rest, "%3d", &status)
		sent, _ := httputil.DumpRequest(r, false)
		w.WriteHeader(status)
		fmt.Fprintf(w, "%s: %s", repeated, sent)
	})
}

// recorder keeps what is sent to a host.
type recorder struct {
	mu       sync.Mutex
	requests []string
}

func (c *recorder) record(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, _ := httputil.DumpRequest(r, true)
		c.mu.Lock()
		c.requests = append(c.requests, string(sent))
		c.mu.Unlock()
		h.ServeHTTP(w, r)
	})
}

func (c *recorder) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.requests)
}

// carrying is how many requests had the key.
func (c *recorder) carrying() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.requests {
		if carries(r) {
			n++
		}
	}
	return n
}

// filesCarrying lists the files below a directory that hold the key.
func filesCarrying(t *testing.T, dir string) (found []string) {
	t.Helper()
	read := 0
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if carries(string(content)) {
			found = append(found, path)
		}
		read += len(content)
		return err
	})
	if err != nil || read == 0 {
		t.Fatalf("%d bytes were read in %s: %v", read, dir, err)
	}
	return found
}
