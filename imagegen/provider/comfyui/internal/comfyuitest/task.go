package comfyuitest

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen/provider/internal/upstreamtest"
)

// task is a workflow in the queue or the history.
type task struct {
	id       string
	workflow Workflow
	unshown  bool           // all of it was in the cache, and there was no client to show that to
	record   map[string]any // what the history has of it once it has ended; nil before
	deleted  bool           // it was removed from the queue
}

// queue returns the tasks that wait or run. The first is the one that runs. The lock must be held.
func (s *Server) queue() []*task {
	var queue []*task
	for _, t := range s.tasks {
		if t.record == nil && !t.deleted {
			queue = append(queue, t)
		}
	}
	return queue
}

func (s *Server) history(w http.ResponseWriter, id string) {
	if queue := s.queue(); len(queue) > 0 && queue[0].id == id {
		queue[0].end(s, !queue[0].workflow.says(Endless))
	}
	history := map[string]any{}
	for _, t := range s.tasks {
		if t.id == id && t.record != nil {
			history[id] = t.record
		}
	}
	upstreamtest.Answer(w, http.StatusOK, history)
}

// end decides how a task ends, by its prompt. Unless complete, it goes on running.
func (t *task) end(s *Server, complete bool) {
	switch w := t.workflow; {
	case !complete:
	case w.says(Failing):
		t.fail("execution_error", map[string]any{"node_id": "3", "node_type": "KSampler",
			"exception_type": "ZeroDivisionError", "exception_message": "division by zero", "traceback": []string{"…"}})
	case w.says(Memory) && s.failures == 0:
		s.failures++
		t.fail("execution_error", map[string]any{"node_id": "3", "node_type": "KSampler",
			"exception_type": "torch.OutOfMemoryError", "exception_message": "Allocation on device",
			"traceback": []string{"…"}})
	default:
		t.succeed()
	}
}

// succeed saves as many pictures as the workflow's batch has, and a preview, which is not an output.
func (t *task) succeed() {
	pictures := []map[string]any{{"filename": "ComfyUI_temp_00001_.png", "subfolder": "", "type": "temp"}}
	width, height := t.workflow.number("EmptyLatentImage", "width"), t.workflow.number("EmptyLatentImage", "height")
	for i := range t.workflow.number("EmptyLatentImage", "batch_size") {
		if t.workflow.says(Unsaved) {
			continue
		}
		name := fmt.Sprintf("imagegend_%05d_%dx%d_.png", i+1, width, height)
		if t.workflow.says(Vanished) && i == 0 {
			name = "gone.png"
		}
		pictures = append(pictures, map[string]any{"filename": name, "subfolder": "2026", "type": "output"})
	}
	t.record = map[string]any{
		"prompt": []any{1, t.id, t.workflow, map[string]any{}, []string{"9"}},
		"outputs": map[string]any{"9": map[string]any{"images": pictures},
			"11": map[string]any{"text": []string{"a caption"}}},
		"status": map[string]any{"status_str": "success", "completed": true,
			"messages": t.messages("execution_success", map[string]any{})},
		"meta": map[string]any{},
	}
	if t.unshown {
		t.record["outputs"] = map[string]any{}
	}
}

// Ran is how long each workflow has run.
const Ran = 4321 * time.Millisecond

// messages are those of a task that has ended: each has the time, in milliseconds (Comfy-Org/ComfyUI, execution.py,
// add_message, 2026-11-27).
func (t *task) messages(end string, details map[string]any) []any {
	const began = 1_795_773_600_000
	details["prompt_id"], details["timestamp"] = t.id, began+Ran.Milliseconds()
	return []any{[]any{"execution_start", map[string]any{"prompt_id": t.id, "timestamp": began}},
		[]any{"execution_cached", map[string]any{"prompt_id": t.id, "nodes": []any{}, "timestamp": began + 2}},
		[]any{end, details}}
}

func (t *task) fail(event string, details map[string]any) {
	t.record = map[string]any{"prompt": []any{1, t.id, t.workflow, map[string]any{}, []string{"9"}},
		"outputs": map[string]any{}, "status": map[string]any{"status_str": "error", "completed": false,
			"messages": t.messages(event, details)}}
}

func (s *Server) showQueue(w http.ResponseWriter) {
	running, pending := []any{}, []any{}
	for i, t := range s.queue() {
		item := []any{i, t.id, t.workflow, map[string]any{"client_id": "prompt-1"}, []string{"9"}}
		if i == 0 {
			running = append(running, item)
		} else {
			pending = append(pending, item)
		}
	}
	upstreamtest.Answer(w, http.StatusOK, map[string]any{"queue_running": running, "queue_pending": pending})
}

// deleteQueued removes tasks that wait. It leaves alone the one that runs.
func (s *Server) deleteQueued(w http.ResponseWriter, r *http.Request) {
	var q struct{ Delete []string }
	if err := upstreamtest.Decode(r, &q); err != nil {
		http.Error(w, "500 Internal Server Error", http.StatusInternalServerError)
		return
	}
	for i, t := range s.queue() {
		if i > 0 && slices.Contains(q.Delete, t.id) {
			t.deleted = true
		}
	}
}

// interrupt ends the task that runs, whichever that is: as older versions do, it does not read the prompt_id.
func (s *Server) interrupt() {
	if queue := s.queue(); len(queue) > 0 {
		s.interrupted = append(s.interrupted, queue[0].id)
		queue[0].fail("execution_interrupted", map[string]any{"node_id": "3", "node_type": "KSampler",
			"executed": []string{}})
	}
}
