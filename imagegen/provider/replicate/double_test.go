package replicate_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/imagegend/imagegend/imagegen/provider/internal/upstreamtest"
)

const (
	key       = "r8_0123456789abcdef"
	endless   = "never finish this"
	forbidden = "draw something forbidden"
)

// created is one prediction that was asked for.
type created struct {
	Path    string         `json:"-"`
	Version string         `json:"version"`
	Input   map[string]any `json:"input"`
}

// double answers as the API does: statuses and bodies are those of replicate.com/docs/reference/http, and of
// replicate/replicate-javascript, issue 249.
type double struct {
	before func(w http.ResponseWriter, r *http.Request) bool // true: it has answered

	mu          sync.Mutex
	predictions []created
	cancelled   []string
}

func (d *double) created() []created {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.predictions)
}

func (d *double) ended() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.cancelled)
}

func (d *double) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/files/") {
		serveFile(w, r)
		return
	}
	if d.before != nil && d.before(w, r) {
		return
	}
	if r.Header.Get("Authorization") != "Bearer "+key {
		problem(w, http.StatusUnauthorized, "Unauthenticated", "You did not pass a valid authentication token")
		return
	}
	path := strings.TrimPrefix(r.URL.Path, "/v1")
	id, isPrediction := strings.CutPrefix(path, "/predictions/")
	switch {
	case r.Method == http.MethodPost && strings.HasSuffix(path, "/predictions"):
		d.create(w, r, path)
	case r.Method == http.MethodPost && isPrediction && strings.HasSuffix(id, "/cancel"):
		d.cancel(w, r, strings.TrimSuffix(id, "/cancel"))
	case r.Method == http.MethodGet && isPrediction:
		d.show(w, r, http.StatusOK, id)
	case r.Method == http.MethodGet && slices.Contains([]string{"/models/acme/fox", "/models/acme/fox/versions/5c7d5dc6", "/deployments/acme/fox"}, path):
		answer(w, http.StatusOK, map[string]any{"owner": "acme", "name": "fox"})
	default:
		problem(w, http.StatusNotFound, "Not found", "The requested resource does not exist")
	}
}

func serveFile(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "" {
		http.Error(w, "the key is not for this host", http.StatusBadRequest)
		return
	}
	var width, height int
	fmt.Sscanf(r.URL.Path, "/files/%dx%d", &width, &height)
	w.Header().Set("Content-Type", "image/png")
	w.Write(upstreamtest.PNG(width, height))
}

func (d *double) create(w http.ResponseWriter, r *http.Request, path string) {
	c := created{Path: path}
	err := upstreamtest.Decode(r, &c)
	if err == nil {
		err = check(c)
	}
	if err != nil {
		problem(w, http.StatusUnprocessableEntity, "Input validation failed", err.Error())
		return
	}
	d.mu.Lock()
	d.predictions = append(d.predictions, c)
	id := len(d.predictions) - 1
	d.mu.Unlock()
	d.show(w, r, http.StatusCreated, fmt.Sprint(id))
}

func (d *double) cancel(w http.ResponseWriter, r *http.Request, id string) {
	d.mu.Lock()
	d.cancelled = append(d.cancelled, id)
	d.mu.Unlock()
	d.show(w, r, http.StatusOK, id)
}

func (d *double) show(w http.ResponseWriter, r *http.Request, status int, id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, c := range d.predictions {
		if fmt.Sprint(i) != id {
			continue
		}
		p := state(r, c.Input)
		if status == http.StatusCreated {
			p = map[string]any{"status": "starting", "output": nil, "error": nil}
		}
		p["id"], p["input"] = id, c.Input
		p["urls"] = map[string]any{"get": fmt.Sprintf("http://%s/v1/predictions/%s", r.Host, id),
			"cancel": fmt.Sprintf("http://%s/v1/predictions/%s/cancel", r.Host, id)}
		answer(w, status, p)
		return
	}
	problem(w, http.StatusNotFound, "Not found", "The requested resource does not exist")
}

func state(r *http.Request, input map[string]any) map[string]any {
	switch input["prompt"] {
	case endless:
		return map[string]any{"status": "processing", "output": nil, "error": nil, "logs": "50%"}
	case forbidden:
		return map[string]any{"status": "failed", "output": nil, "error": "The input or output was flagged as sensitive. Please try again with different inputs. (E005)"}
	}
	address := fmt.Sprintf("http://%s/files/%s", r.Host, sizeOf(input))
	n, many := input["num_outputs"].(float64)
	if !many {
		return map[string]any{"status": "succeeded", "output": address, "error": nil}
	}
	return map[string]any{"status": "succeeded", "output": slices.Repeat([]string{address}, int(n)), "error": nil}
}

func problem(w http.ResponseWriter, status int, title, detail string) {
	answer(w, status, map[string]any{"title": title, "detail": detail, "status": status})
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}
