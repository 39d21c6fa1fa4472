package bfl_test

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
	key       = "bfl-key-0123456789"
	endless   = "never finish this"
	forbidden = "draw something forbidden"
)

// double answers as the API does (docs.bfl.ai, help.bfl.ai): with the fields of each model and no others.
type double struct {
	before func(w http.ResponseWriter, r *http.Request) bool // true: it has answered

	mu    sync.Mutex
	tasks []map[string]any // what was submitted
}

func (d *double) submitted() []map[string]any {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.tasks)
}

func (d *double) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if size, ok := strings.CutPrefix(r.URL.Path, "/files/"); ok {
		if r.Header.Get("X-Key") != "" {
			answer(w, http.StatusBadRequest, "the key is not for this host")
			return
		}
		var width, height int
		fmt.Sscanf(size, "%dx%d", &width, &height)
		w.Header().Set("Content-Type", "image/png")
		w.Write(upstreamtest.PNG(width, height))
		return
	}
	if d.before != nil && d.before(w, r) {
		return
	}
	if r.Header.Get("X-Key") != key {
		answer(w, http.StatusForbidden, map[string]any{"detail": "Not authenticated - invalid key " + r.Header.Get("X-Key")})
		return
	}
	model, _ := strings.CutPrefix(r.URL.Path, "/v1/")
	switch route := r.Method + " " + r.URL.Path; {
	case route == "GET /v1/credits":
		answer(w, http.StatusOK, map[string]any{"credits": 12.5})
	case route == "GET /v1/get_result":
		d.result(w, r)
	case r.Method == http.MethodPost && inputs[model].fields != nil:
		d.submit(w, r, inputs[model])
	default:
		answer(w, http.StatusNotFound, map[string]any{"detail": "Not Found"})
	}
}

func (d *double) submit(w http.ResponseWriter, r *http.Request, in schema) {
	var fields map[string]any
	if err := json.NewDecoder(r.Body).Decode(&fields); err != nil {
		answer(w, http.StatusBadRequest, map[string]any{"detail": err.Error()})
		return
	}
	if problem := in.check(fields); problem != "" {
		answer(w, http.StatusUnprocessableEntity, map[string]any{"detail": []any{map[string]any{"msg": problem, "type": "value_error"}}})
		return
	}
	d.mu.Lock()
	d.tasks = append(d.tasks, fields)
	id := len(d.tasks) - 1
	d.mu.Unlock()
	answer(w, http.StatusOK, map[string]any{"id": fmt.Sprint(id), "cost": 3,
		"polling_url": fmt.Sprintf("http://%s/v1/get_result?id=%d", r.Host, id)})
}

func (d *double) result(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	id := r.URL.Query().Get("id")
	for i, fields := range d.tasks {
		if fmt.Sprint(i) == id {
			status := http.StatusOK
			if fields["prompt"] == forbidden {
				status = http.StatusServiceUnavailable // what was moderated comes so (vercel/ai, packages/black-forest-labs)
			}
			answer(w, status, d.state(r, id, fields))
			return
		}
	}
	answer(w, http.StatusNotFound, map[string]any{"id": id, "status": "Task not found", "result": nil})
}

func (d *double) state(r *http.Request, id string, fields map[string]any) map[string]any {
	switch fields["prompt"] {
	case endless:
		return map[string]any{"id": id, "status": "Pending", "result": nil, "progress": 0.5}
	case forbidden:
		return map[string]any{"id": id, "status": "Request Moderated", "result": nil, "details": map[string]any{"Moderation Reasons": []string{"Derivative Works Filter"}}}
	}
	return map[string]any{"id": id, "status": "Ready", "result": map[string]any{"seed": 42, "prompt": fields["prompt"],
		"sample": "http://" + r.Host + "/files/" + size(fields)}}
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}
