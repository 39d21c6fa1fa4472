package fal_test

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
	key       = "id:0123456789abcdef"
	endless   = "never finish this"
	forbidden = "draw something forbidden"
)

// submitted is one request that was put in the queue.
type submitted struct {
	Path  string
	Input map[string]any
}

// double answers as the queue does for a model with fal's usual fields, and as the platform's API: statuses and bodies
// are those of fal.ai/docs, documentation/model-apis/inference/queue, inference-api/queue/cancel and
// documentation/model-apis/errors.
type double struct {
	before func(w http.ResponseWriter, r *http.Request) bool // true: it has answered

	mu        sync.Mutex
	requests  []submitted
	cancelled []string
}

func (d *double) submitted() []submitted {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.requests)
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
	if r.Header.Get("Authorization") != "Key "+key {
		answer(w, http.StatusUnauthorized, map[string]any{"detail": "Cannot access application. Authentication is required."})
		return
	}
	id, isRequest := strings.CutPrefix(r.URL.Path, "/acme/fox/requests/")
	switch {
	case r.Method == http.MethodPost && slices.Contains([]string{"/acme/fox", "/acme/fox/edit"}, r.URL.Path):
		d.submit(w, r)
	case r.Method == http.MethodPut && isRequest && strings.HasSuffix(id, "/cancel"):
		d.cancel(w, strings.TrimSuffix(id, "/cancel"))
	case r.Method == http.MethodGet && isRequest && strings.HasSuffix(id, "/status"):
		d.status(w, strings.TrimSuffix(id, "/status"))
	case r.Method == http.MethodGet && isRequest:
		d.response(w, r, id)
	case r.Method == http.MethodGet && r.URL.Path == "/platform/models/pricing" && r.URL.Query().Get("endpoint_id") == "acme/fox":
		answer(w, http.StatusOK, map[string]any{"prices": []any{}})
	default:
		answer(w, http.StatusNotFound, map[string]any{"detail": "Not Found"})
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

func (d *double) submit(w http.ResponseWriter, r *http.Request) {
	s := submitted{Path: r.URL.Path}
	if err := json.NewDecoder(r.Body).Decode(&s.Input); err != nil {
		answer(w, http.StatusBadRequest, map[string]any{"detail": err.Error(), "error_type": "bad_request"})
		return
	}
	d.mu.Lock()
	d.requests = append(d.requests, s)
	id := len(d.requests) - 1
	d.mu.Unlock()
	address := fmt.Sprintf("http://%s/acme/fox/requests/%d", r.Host, id) // without the endpoint's path
	answer(w, http.StatusOK, map[string]any{"status": "IN_QUEUE", "queue_position": 0, "request_id": fmt.Sprint(id),
		"response_url": address, "status_url": address + "/status", "cancel_url": address + "/cancel"})
}

func (d *double) cancel(w http.ResponseWriter, id string) {
	s := d.find(w, id)
	switch {
	case s == nil:
		return
	case s.Input["prompt"] != endless:
		answer(w, http.StatusBadRequest, map[string]any{"status": "ALREADY_COMPLETED"})
		return
	}
	d.mu.Lock()
	d.cancelled = append(d.cancelled, id)
	d.mu.Unlock()
	answer(w, http.StatusAccepted, map[string]any{"status": "CANCELLATION_REQUESTED"})
}

// find returns nil for an id that is not known, and answers so.
func (d *double) find(w http.ResponseWriter, id string) *submitted {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, s := range d.requests {
		if fmt.Sprint(i) == id {
			return &s
		}
	}
	answer(w, http.StatusNotFound, map[string]any{"detail": "Request not found"})
	return nil
}

func (d *double) status(w http.ResponseWriter, id string) {
	switch s := d.find(w, id); {
	case s == nil:
	case s.Input["prompt"] == endless:
		answer(w, http.StatusAccepted, map[string]any{"status": "IN_PROGRESS", "logs": nil})
	default:
		answer(w, http.StatusOK, map[string]any{"status": "COMPLETED", "metrics": map[string]any{"inference_time": 1.5}})
	}
}

func (d *double) response(w http.ResponseWriter, r *http.Request, id string) {
	s := d.find(w, id)
	if s == nil {
		return
	}
	field, kind := check(*s)
	switch {
	case s.Input["prompt"] == endless:
		answer(w, http.StatusBadRequest, map[string]any{"detail": "Request is still in progress"})
		return
	case kind != "":
		modelError(w, http.StatusUnprocessableEntity, kind, "the field does not serve", field)
		return
	case s.Input["prompt"] == forbidden:
		modelError(w, http.StatusUnprocessableEntity, "content_policy_violation", "The content could not be processed.", "prompt")
		return
	}
	n, many := s.Input["num_images"].(float64)
	if !many {
		n = 1
	}
	image := map[string]any{"url": fmt.Sprintf("http://%s/files/%v", r.Host, sizeOf(s.Input)), "content_type": "image/png"}
	answer(w, http.StatusOK, map[string]any{"images": slices.Repeat([]any{image}, int(n)), "seed": 42,
		"has_nsfw_concepts": make([]bool, int(n)), "timings": map[string]any{}})
}

func modelError(w http.ResponseWriter, status int, kind, message, field string) {
	answer(w, status, map[string]any{"detail": []any{map[string]any{"loc": []string{"body", field}, "msg": message, "type": kind}}})
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}
