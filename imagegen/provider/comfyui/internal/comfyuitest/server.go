// Package comfyuitest is a stand-in for ComfyUI that behaves as its server does: Comfy-Org/ComfyUI, server.py and
// execution.py.
package comfyuitest

import (
	"fmt"
	"io"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/imagegend/imagegend/imagegen/provider/internal/upstreamtest"
)

// Prompts that the server knows. A workflow has one if a text in it begins with it.
const (
	Endless  = "never finish this" // runs until it is interrupted
	Failing  = "divide by zero"    // fails in a node
	Memory   = "fill the memory"   // fails for lack of memory, but only once for each server
	Unsaved  = "save nothing"      // ends with a preview only
	Vanished = "lose the file"     // saves a file that is not there
)

// Server runs workflows, one at a time in their order. It has no clock: the one that is running
// ends when a request asks the history for it. The zero value is ready for use, and it is safe
// for concurrent use once its fields are set.
type Server struct {
	// Before is called first, if it is set; true means that it has answered.
	Before func(w http.ResponseWriter, r *http.Request) bool
	// OwnIDs says that the server chooses the ids of prompts, as older versions do, which ignore the client's.
	OwnIDs bool
	// Lose says that the server takes a prompt and then hangs up.
	Lose bool

	mu          sync.Mutex
	tasks       []*task           // in their order, also those that have ended or were deleted
	files       map[string][]byte // by subfolder/name
	interrupted []string
	failures    int // for lack of memory
}

// canonical is a UUID as post_prompt of Comfy-Org/ComfyUI, server.py, takes it.
var canonical = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// IDs returns those of all prompts so far.
func (s *Server) IDs() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return idsOf(s.tasks)
}

func idsOf(tasks []*task) (ids []string) {
	for _, t := range tasks {
		ids = append(ids, t.id)
	}
	return ids
}

// Workflows returns the workflows that were submitted so far, filled in.
func (s *Server) Workflows() []Workflow {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Workflow
	for _, t := range s.tasks {
		all = append(all, t.workflow)
	}
	return all
}

// Files returns the uploaded files by subfolder/name.
func (s *Server) Files() map[string][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.files
}

// Unfinished returns the prompts that wait or run.
func (s *Server) Unfinished() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return idsOf(s.queue())
}

// Interrupted returns the prompts that were interrupted while they ran.
func (s *Server) Interrupted() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.interrupted)
}

// Finish ends every prompt, as if each had run to its end.
func (s *Server) Finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.queue() {
		t.end(s, true)
	}
}

// Restart forgets every prompt, as a restart of ComfyUI does. Files stay.
func (s *Server) Restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tasks = nil
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.Before != nil && s.Before(w, r) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id, isHistory := strings.CutPrefix(r.URL.Path, "/history/")
	class, isInfo := strings.CutPrefix(r.URL.Path, "/object_info/")
	switch route := r.Method + " " + r.URL.Path; {
	case route == "POST /upload/image":
		s.upload(w, r)
	case route == "POST /prompt":
		s.submit(w, r)
	case isHistory:
		s.history(w, id)
	case route == "GET /queue":
		s.showQueue(w)
	case route == "POST /queue":
		s.deleteQueued(w, r)
	case route == "POST /interrupt":
		s.interrupt()
	case route == "GET /view":
		s.view(w, r)
	case route == "GET /system_stats":
		upstreamtest.Answer(w, http.StatusOK, map[string]any{"system": map[string]any{"os": "posix",
			"comfyui_version": "0.3.60"}, "devices": []any{}})
	case isInfo && slices.Contains(classes, class):
		upstreamtest.Answer(w, http.StatusOK, map[string]any{class: map[string]any{"input": map[string]any{},
			"name": class}})
	case isInfo:
		upstreamtest.Answer(w, http.StatusOK, map[string]any{})
	default:
		http.Error(w, "404: Not Found", http.StatusNotFound)
	}
}

// upload stores a file under its name, unless there is another file of that name: then under a name with a number.
func (s *Server) upload(w http.ResponseWriter, r *http.Request) {
	file, header, err := r.FormFile("image")
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	raw, err := io.ReadAll(file)
	if err != nil || r.FormValue("type") != "input" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if s.files == nil {
		s.files = map[string][]byte{}
	}
	subfolder, name := r.FormValue("subfolder"), header.Filename
	for i := 1; s.files[subfolder+"/"+name] != nil && string(s.files[subfolder+"/"+name]) != string(raw); i++ {
		name = fmt.Sprintf("(%d) %s", i, header.Filename)
	}
	s.files[subfolder+"/"+name] = raw
	upstreamtest.Answer(w, http.StatusOK, map[string]any{"name": name, "subfolder": subfolder, "type": "input"})
}

func (s *Server) submit(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Prompt Workflow
		ID     string `json:"prompt_id"`
		Client string `json:"client_id"`
	}
	if err := upstreamtest.Decode(r, &q); err != nil {
		http.Error(w, "500 Internal Server Error", http.StatusInternalServerError)
		return
	}
	if s.OwnIDs {
		q.ID = fmt.Sprintf("%08x-0000-4000-8000-000000000000", len(s.tasks)+1)
	}
	if !canonical.MatchString(q.ID) {
		upstreamtest.Answer(w, http.StatusBadRequest, map[string]any{"node_errors": map[string]any{},
			"error": map[string]any{"type": "invalid_prompt_id",
				"message": "prompt_id must be a valid UUID", "details": "", "extra_info": map[string]any{}}})
		return
	}
	if node, err := q.Prompt.check(s.files); err != nil {
		upstreamtest.Answer(w, http.StatusBadRequest, map[string]any{
			"error": map[string]any{"type": "prompt_outputs_failed_validation",
				"message": "Prompt outputs failed validation", "details": "", "extra_info": map[string]any{}},
			"node_errors": map[string]any{
				node: map[string]any{"errors": []any{map[string]any{"type": "value_not_in_list",
					"message": "Value not in list", "details": err.Error()}}}},
		})
		return
	}
	// the history of versions before July 2026 lacks what came from the cache (Comfy-Org/ComfyUI, pull request 14939)
	cached := slices.ContainsFunc(s.tasks, func(t *task) bool { return reflect.DeepEqual(t.workflow, q.Prompt) })
	t := &task{id: q.ID, workflow: q.Prompt, unshown: cached && q.Client == ""}
	s.tasks = append(s.tasks, t)
	if s.Lose {
		panic(http.ErrAbortHandler)
	}
	upstreamtest.Answer(w, http.StatusOK, map[string]any{"prompt_id": t.id, "number": len(s.tasks),
		"node_errors": map[string]any{}})
}

// view sends a picture of the size that its name tells, see task.succeed.
func (s *Server) view(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	var n, width, height int
	if _, err := fmt.Sscanf(q.Get("filename"), "imagegend_%d_%dx%d_.png", &n, &width, &height); err != nil ||
		q.Get("type") != "output" || q.Get("subfolder") != "2026" {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "image/png")
	w.Write(upstreamtest.PNG(width, height))
}
