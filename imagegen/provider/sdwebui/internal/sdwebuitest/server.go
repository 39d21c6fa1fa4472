// Package sdwebuitest is a stand-in for the web UI that behaves as its source says:
// AUTOMATIC1111/stable-diffusion-webui, modules/api/api.py and modules/progress.py.
package sdwebuitest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/imagegend/imagegend/imagegen/provider/internal/upstreamtest"
)

// The user name and the password, as --api-auth sets them.
const (
	User     = "operator"
	Password = "secret-password"
)

// Endless is a prompt that is drawn until it is interrupted or the client has gone.
const Endless = "never finish this"

// Request is a call to draw something.
type Request struct {
	Path   string
	Params map[string]any
}

// Server answers as the web UI does. The zero value is ready for use, and it is safe for
// concurrent use once its fields are set.
type Server struct {
	// Before is called first, if it is set; true means that it has answered.
	Before func(w http.ResponseWriter, r *http.Request) bool
	// Began, if it is set, gets a value when the drawing of an Endless prompt begins.
	Began chan<- struct{}

	mu       sync.Mutex
	requests []Request
	drawing  map[string]chan struct{} // by task; closed when it is interrupted
	stopped  []string                 // tasks that were interrupted
	most     int                      // the most calls that drew at the same time
}

// Requests returns what was asked to be drawn so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Interrupted returns the tasks that were interrupted.
func (s *Server) Interrupted() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.stopped)
}

// MostAtOnce returns the largest number of calls that drew at the same time.
func (s *Server) MostAtOnce() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.most
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.Before != nil && s.Before(w, r) {
		return
	}
	user, password, _ := r.BasicAuth()
	if strings.HasPrefix(r.URL.Path, "/sdapi/") && (user != User || password != Password) {
		w.Header().Set("WWW-Authenticate", "Basic")
		upstreamtest.Answer(w, http.StatusUnauthorized, map[string]any{"error": "HTTPException",
			"detail": "Incorrect username or password", "body": "", "errors": ""})
		return
	}
	switch r.Method + " " + r.URL.Path {
	case "POST /sdapi/v1/txt2img", "POST /sdapi/v1/img2img":
		s.draw(w, r)
	case "POST /internal/progress":
		s.progress(w, r)
	case "POST /sdapi/v1/interrupt":
		s.interrupt()
		upstreamtest.Answer(w, http.StatusOK, map[string]any{})
	case "GET /sdapi/v1/sd-models":
		upstreamtest.Answer(w, http.StatusOK, []map[string]any{{"title": "sdxl.safetensors [abc123]",
			"model_name": "sdxl", "hash": "abc123", "filename": "/models/sdxl.safetensors"}})
	default:
		upstreamtest.Answer(w, http.StatusNotFound, map[string]any{"detail": "Not Found"})
	}
}

func (s *Server) draw(w http.ResponseWriter, r *http.Request) {
	q := Request{Path: r.URL.Path}
	if err := json.NewDecoder(r.Body).Decode(&q.Params); err != nil {
		upstreamtest.Answer(w, http.StatusUnprocessableEntity,
			map[string]any{"detail": []map[string]any{{"loc": []any{"body"}, "msg": err.Error(),
				"type": "value_error.jsondecode"}}})
		return
	}
	interrupted, done := s.begin(q)
	defer done()
	if err := check(q); err != nil {
		upstreamtest.Answer(w, http.StatusInternalServerError, map[string]any{"error": "ValueError", "detail": "",
			"body": "", "errors": err.Error()})
		return
	}
	if q.Params["prompt"] == Endless {
		if s.Began != nil {
			s.Began <- struct{}{}
		}
		select {
		case <-interrupted:
		case <-r.Context().Done():
		}
	}
	upstreamtest.Answer(w, http.StatusOK, map[string]any{"images": pictures(q.Params), "parameters": q.Params,
		"info": `{"prompt": "…", "all_seeds": [1]}`})
}

// begin notes that a call draws, until done is called. interrupted is closed when the call is interrupted.
func (s *Server) begin(q Request) (interrupted <-chan struct{}, done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, q)
	if s.drawing == nil {
		s.drawing = map[string]chan struct{}{}
	}
	task, stop := fmt.Sprint(q.Params["force_task_id"]), make(chan struct{})
	s.drawing[task] = stop
	s.most = max(s.most, len(s.drawing))
	return stop, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if q.Params["prompt"] != Endless { // goes on drawing: the web UI does not notice that a client has gone
			delete(s.drawing, task)
		}
	}
}

func (s *Server) progress(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Task    string `json:"id_task"`
		Preview bool   `json:"live_preview"`
	}
	if err := upstreamtest.Decode(r, &q); err != nil {
		upstreamtest.Answer(w, http.StatusUnprocessableEntity, map[string]any{"detail": err.Error()})
		return
	}
	s.mu.Lock()
	_, active := s.drawing[q.Task]
	s.mu.Unlock()
	upstreamtest.Answer(w, http.StatusOK, map[string]any{"active": active, "queued": false, "completed": !active,
		"id_live_preview": -1, "textinfo": nil})
}

// interrupt ends all that is being drawn.
func (s *Server) interrupt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for task, stop := range s.drawing {
		close(stop)
		delete(s.drawing, task)
		s.stopped = append(s.stopped, task)
	}
}

// known are those fields of modules/api/models.py and modules/processing.py of
// AUTOMATIC1111/stable-diffusion-webui that a provider may need. The web UI ignores unknown
// fields without an error; the stand-in refuses them, to find mistakes.
var known = []string{"prompt", "negative_prompt", "styles", "seed", "subseed", "subseed_strength", "sampler_name",
	"scheduler", "batch_size", "n_iter", "steps", "cfg_scale", "width", "height", "restore_faces", "tiling",
	"denoising_strength", "eta", "override_settings", "refiner_checkpoint", "refiner_switch_at", "enable_hr",
	"hr_resize_x", "hr_resize_y", "hr_upscaler", "hr_second_pass_steps", "hr_prompt", "hr_additional_modules",
	"init_images", "resize_mode", "image_cfg_scale", "mask", "mask_blur", "inpainting_fill", "inpaint_full_res",
	"inpainting_mask_invert", "script_name", "script_args", "alwayson_scripts", "force_task_id", "clip_skip"}

// check returns why the web UI would not draw what a request asks for, whether it would say so or not.
func check(q Request) error {
	for name := range q.Params {
		if !slices.Contains(known, name) {
			return fmt.Errorf("%s is not known", name)
		}
	}
	for _, name := range []string{"width", "height", "batch_size", "n_iter", "steps"} {
		if number(q.Params[name]) < 1 {
			return fmt.Errorf("%s is %v", name, q.Params[name])
		}
	}
	for _, name := range []string{"width", "height", "hr_resize_x", "hr_resize_y"} {
		if number(q.Params[name])%8 != 0 {
			return fmt.Errorf("%s is %v", name, q.Params[name])
		}
	}
	if _, isList := q.Params["hr_additional_modules"].([]any); q.Params["enable_hr"] == true && !isList {
		return fmt.Errorf("argument of type 'NoneType' is not iterable")
	}
	if q.Path == "/sdapi/v1/img2img" {
		images, _ := q.Params["init_images"].([]any)
		for _, image := range images {
			if _, err := base64.StdEncoding.DecodeString(fmt.Sprint(image)); err != nil {
				return fmt.Errorf("invalid encoded image")
			}
		}
		if len(images) != 1 || q.Params["resize_mode"] != 1.0 {
			return fmt.Errorf("%d images with resize mode %v", len(images), q.Params["resize_mode"])
		}
		if err := checkMask(q.Params); err != nil {
			return err
		}
	}
	return nil
}

// checkMask refuses a mask that is not in grey, or is not used as the provider means it. The web UI would take it.
func checkMask(params map[string]any) error {
	if params["mask"] == nil {
		return nil
	}
	raw, err := base64.StdEncoding.DecodeString(fmt.Sprint(params["mask"]))
	if err != nil {
		return err
	}
	mask, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	if _, grey := mask.(*image.Gray); !grey || params["inpainting_mask_invert"] != 0.0 ||
		params["inpainting_fill"] != 1.0 {
		return fmt.Errorf("a mask as %T, inverted %v, filled with %v", mask, params["inpainting_mask_invert"],
			params["inpainting_fill"])
	}
	return nil
}

// pictures are as many as the parameters ask for, of the size that hires fix makes if it is on.
func pictures(params map[string]any) [][]byte {
	width, height := number(params["width"]), number(params["height"])
	if params["enable_hr"] == true {
		width, height = number(params["hr_resize_x"]), number(params["hr_resize_y"])
	}
	picture := upstreamtest.PNG(width, height)
	// []byte is base64 in JSON
	return slices.Repeat([][]byte{picture}, number(params["batch_size"])*number(params["n_iter"]))
}

func number(v any) int {
	n, _ := v.(float64)
	return int(n)
}
