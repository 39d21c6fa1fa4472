// Package hostedtest holds what the tests of hosted providers have in common: the ground that their stand-ins stand on, and
// the suite that each of them passes.
package hostedtest

import (
	"cmp"
	"encoding/json"
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
	Endless   = "never finish this"
	Forbidden = "draw something forbidden"
)

// Sent is what a task was submitted with.
type Sent struct {
	Path   string
	Fields map[string]any
}

// Double is a stand-in that keeps the tasks, of which the n-th has n-1 as its id, and hands out pictures at /files/WxH.
type Double struct {
	// Header and Key are what a request carries, but for pictures.
	Header, Key string

	// Refuse answers with an error of a status, as the vendor words it.
	Refuse func(w http.ResponseWriter, status int, why string)

	// Routes are the vendor's, by the pattern of http.ServeMux.
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
	for pattern, h := range d.Routes {
		mux.HandleFunc(pattern, h)
	}
	if h, pattern := mux.Handler(r); pattern != "" && h != nil {
		mux.ServeHTTP(w, r)
		return
	}
	d.Refuse(w, http.StatusNotFound, "Not Found")
}

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

// Submit takes a task in and returns its id.
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

// Cancel notes that a task was cancelled.
func (d *Double) Cancel(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cancelled = append(d.cancelled, id)
}

// Sent is what was submitted so far.
func (d *Double) Sent() []Sent {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.sent)
}

// Cancelled are the tasks that were cancelled.
func (d *Double) Cancelled() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.cancelled)
}

// Answer sends v as JSON.
func Answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

// Page is what a proxy answers with.
var Page = "<!DOCTYPE html>\n<html>" + strings.Repeat("<p>Bad gateway</p>\n", 10_000)

// HangUp resets the connection.
func HangUp(w http.ResponseWriter) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		c.(*net.TCPConn).SetLinger(0)
		c.Close()
	}
}
