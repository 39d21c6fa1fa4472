// Package hostedtest has what the tests of hosted providers have in common: [Double], on which the stand-in for each
// upstream is built, and [Suite], which each provider passes.
package hostedtest

import (
	"cmp"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/imagegend/imagegend/imagegen/provider/internal/upstreamtest"
)

// Prompts that every stand-in knows.
const (
	Endless   = "never finish this"        // a task that stays pending
	Forbidden = "draw something forbidden" // a task that moderation refuses
)

// Sent is what a task was submitted with.
type Sent struct {
	Path   string
	Fields map[string]any
}

// Double is a stand-in for an upstream. It checks the key, keeps the tasks that its Routes
// submit, and sends pictures at /files/WxH, there without a key. The ids of the tasks are 0, 1
// and so on. It is safe for concurrent use once its fields are set.
type Double struct {
	// Header and Key are the header that each request must have, but for pictures, and its value.
	Header, Key string

	// Refuse answers with an error, in the words of the vendor.
	Refuse func(w http.ResponseWriter, status int, why string)

	// Routes are the handlers of the vendor's routes, by the pattern of http.ServeMux.
	Routes map[string]http.HandlerFunc

	// Before is called first, if it is set; true means that it has answered.
	Before func(w http.ResponseWriter, r *http.Request) bool

	mu        sync.Mutex
	sent      []Sent
	cancelled []string
}

func (d *Double) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if size, ok := strings.CutPrefix(r.URL.Path, "/files/"); ok {
		d.file(w, r, size)
		return
	}
	if d.Before != nil && d.Before(w, r) {
		return
	}
	if r.Header.Get(d.Header) != d.Key {
		d.Refuse(w, http.StatusUnauthorized, "not authenticated: "+r.Header.Get(d.Header))
		return
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { d.Refuse(w, http.StatusNotFound, "Not Found") })
	for pattern, h := range d.Routes {
		mux.HandleFunc(pattern, h)
	}
	mux.ServeHTTP(w, r)
}

// file sends a picture of that size, as PNG unless the query names another format in as. It refuses a request with a
// key, which must not leave the API's own host.
func (d *Double) file(w http.ResponseWriter, r *http.Request, size string) {
	if r.Header.Get(d.Header) != "" {
		http.Error(w, "the key is not for this host", http.StatusBadRequest)
		return
	}
	var width, height int
	fmt.Sscanf(size, "%dx%d", &width, &height)
	format := cmp.Or(r.FormValue("as"), "png")
	w.Header().Set("Content-Type", "image/"+format)
	w.Write(upstreamtest.Picture(width, height, format, r.FormValue("background") == "transparent"))
}

// Submit adds a task and returns its id. A route calls it.
func (d *Double) Submit(s Sent) (id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sent = append(d.sent, s)
	return strconv.Itoa(len(d.sent) - 1)
}

// Task returns a task by its id.
func (d *Double) Task(id string) (s Sent, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n, err := strconv.Atoi(id); err == nil && n >= 0 && n < len(d.sent) {
		return d.sent[n], true
	}
	return Sent{}, false
}

// Cancel notes that a task was cancelled. A route calls it.
func (d *Double) Cancel(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cancelled = append(d.cancelled, id)
}

// Sent returns what was submitted so far.
func (d *Double) Sent() []Sent {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.sent)
}

// Cancelled returns the ids of the tasks that were cancelled so far.
func (d *Double) Cancelled() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.cancelled)
}

// Page is a long page of HTML, as a proxy sends it in the place of an answer.
var Page = "<!DOCTYPE html>\n<html>" + strings.Repeat("<p>Bad gateway</p>\n", 10_000)

// HangUp resets the connection without an answer.
func HangUp(w http.ResponseWriter) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		c.(*net.TCPConn).SetLinger(0)
		c.Close()
	}
}
