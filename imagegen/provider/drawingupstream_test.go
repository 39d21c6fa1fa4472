package provider_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/provider/bfl"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstreamtest"
	"github.com/imagegend/imagegend/imagegen/provider/openai"
	"github.com/imagegend/imagegend/imagegen/provider/replicate"
)

const poll = time.Millisecond

func openaiAt(address string) openai.Config {
	return openai.Config{BaseURL: address + "/v1", Private: true}
}

func bflAt(address string) bfl.Config {
	return bfl.Config{BaseURL: address + "/v1", Private: true, PollInterval: poll}
}

func replicateAt(address string) replicate.Config {
	return replicate.Config{BaseURL: address + "/v1", Private: true, PollInterval: poll, Model: "acme/fox",
		Template: provider.Template{Input: map[string]any{"prompt": "{{prompt}}"}}}
}

// drawingUpstream draws for all upstreams what is asked for, by the rules of each, and keeps what breaks them.
type drawingUpstream struct {
	mu       sync.Mutex
	pictures []imagegen.Size // by the task's id where there are tasks
	problems []error
}

func (e *drawingUpstream) drawn() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.pictures)
}

// found returns what was not legal.
func (e *drawingUpstream) found() []error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.problems
}

// take begins a picture and returns its id.
func (e *drawingUpstream) take(z imagegen.Size, problem error) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	if problem != nil {
		e.problems = append(e.problems, fmt.Errorf("%v: %w", z, problem))
	}
	e.pictures = append(e.pictures, z)
	return len(e.pictures) - 1
}

func (e *drawingUpstream) size(id int) imagegen.Size {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.pictures[id]
}

// object is a JSON object, or what is looked for in one.
type object = map[string]any

func (e *drawingUpstream) routes() http.Handler {
	mux := http.NewServeMux()
	e.serveAnswers(mux)
	e.serveComfyUI(mux)
	e.serveTasks(mux)
	mux.HandleFunc("GET /files/{id}", func(w http.ResponseWriter, r *http.Request) {
		var id int
		fmt.Sscan(r.PathValue("id"), &id)
		z := e.size(id)
		w.Header().Set("Content-Type", "image/png")
		w.Write(upstreamtest.PNG(z.Width, z.Height))
	})
	return mux
}

// serveAnswers serves the upstreams that draw while the caller waits.
func (e *drawingUpstream) serveAnswers(mux *http.ServeMux) {
	mux.HandleFunc("POST /v1/images/generations", func(w http.ResponseWriter, r *http.Request) {
		var q struct{ Size string }
		read(r, &q)
		z, err := imagegen.ParseSize(q.Size)
		if z.Auto() {
			z = imagegen.Size{Width: 1024, Height: 1024}
		}
		if err == nil {
			err = legal(z, 16, 16, 3840, 655_360, 8_294_400, 3)
		}
		e.take(z, err)
		answer(w, object{"data": []object{{"b64_json": upstreamtest.PNG(z.Width, z.Height)}}})
	})
	mux.HandleFunc("POST /v1beta/models/gemini-3-pro-image:generateContent",
		func(w http.ResponseWriter, r *http.Request) {
			var q struct {
				GenerationConfig struct {
					ImageConfig struct{ AspectRatio, ImageSize string }
				}
			}
			read(r, &q)
			image := q.GenerationConfig.ImageConfig
			z, err := geminiSize(image.AspectRatio, image.ImageSize)
			e.take(z, err)
			answer(w, object{"candidates": []object{{"finishReason": "STOP", "content": object{"parts": []object{
				{"inlineData": object{"mimeType": "image/png", "data": upstreamtest.PNG(z.Width, z.Height)}}}}}}})
		})
	mux.HandleFunc("POST /sdapi/v1/txt2img", func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Width, Height int
			Enlarge       bool `json:"enable_hr"`
			FullWidth     int  `json:"hr_resize_x"`
			FullHeight    int  `json:"hr_resize_y"`
		}
		read(r, &q)
		z := imagegen.Size{Width: q.Width, Height: q.Height}
		err := legal(z, 8, 64, 2048, 1, 1100*1100, 3.1) // what a checkpoint of 1024×1024 draws well
		if q.Enlarge {
			z = imagegen.Size{Width: q.FullWidth, Height: q.FullHeight}
		}
		if err == nil {
			err = legal(z, 8, 64, 3840, 1, 3840*2160, 3)
		}
		e.take(z, err)
		answer(w, object{"images": [][]byte{upstreamtest.PNG(z.Width, z.Height)}})
	})
}

// geminiSize is what the documentation says that the model makes.
func geminiSize(ratio, size string) (imagegen.Size, error) {
	made := map[string][2]int{"": {1024, 1024}, "1:1": {1024, 1024}, "2:3": {848, 1264}, "3:2": {1264, 848},
		"3:4": {896, 1200}, "4:3": {1200, 896}, "4:5": {928, 1152}, "5:4": {1152, 928}, "9:16": {768, 1376},
		"16:9": {1376, 768}, "21:9": {1584, 672}}
	z, ok := made[ratio]
	times := slices.Index([]string{"", "1K", "2K", "", "4K"}, size)
	if !ok || times < 1 {
		return imagegen.Size{Width: 16, Height: 16}, fmt.Errorf("there is no ratio %q in size %q", ratio, size)
	}
	return imagegen.Size{Width: times * z[0], Height: times * z[1]}, nil
}

const workflow = `{
	"3": {"class_type": "KSampler", "inputs": {"seed": "{{seed}}"}},
	"5": {"class_type": "EmptyLatentImage", "inputs": {"width": "{{width}}", "height": "{{height}}"}},
	"6": {"class_type": "CLIPTextEncode", "inputs": {"text": "{{prompt}}"}}
}`

func (e *drawingUpstream) serveComfyUI(mux *http.ServeMux) {
	mux.HandleFunc("POST /prompt", func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Prompt map[string]struct {
				Inputs struct{ Width, Height int }
			}
		}
		read(r, &q)
		z := imagegen.Size(q.Prompt["5"].Inputs)
		id := e.take(z, legal(z, 16, 16, 16384, 1, 3840*2160, 3))
		answer(w, object{"prompt_id": fmt.Sprint(id)})
	})
	mux.HandleFunc("GET /history/{id}", func(w http.ResponseWriter, r *http.Request) {
		id := r.PathValue("id")
		picture := object{"filename": id, "type": "output"}
		answer(w, object{id: object{"outputs": object{"9": object{"images": []object{picture}}},
			"status": object{"status_str": "success"}}})
	})
	mux.HandleFunc("GET /view", func(w http.ResponseWriter, r *http.Request) {
		var id int
		fmt.Sscan(r.FormValue("filename"), &id)
		z := e.size(id)
		w.Write(upstreamtest.PNG(z.Width, z.Height))
	})
}

// named are the only pictures of a model that takes names of ratios.
var named = map[string]imagegen.Size{"1:1": {Width: 1024, Height: 1024}, "16:9": {Width: 1344, Height: 756},
	"9:16": {Width: 756, Height: 1344}}

// serveTasks serves the upstreams that are asked for a task's pictures later.
func (e *drawingUpstream) serveTasks(mux *http.ServeMux) {
	mux.HandleFunc("POST /v1/flux-2-pro", func(w http.ResponseWriter, r *http.Request) {
		var z imagegen.Size
		read(r, &z)
		id := e.take(z, legal(z, 16, 256, 8192, 1, 2048*2048, 4))
		answer(w, object{"id": id, "polling_url": fmt.Sprintf("http://%s/v1/get_result?id=%d", r.Host, id)})
	})
	mux.HandleFunc("GET /v1/get_result", func(w http.ResponseWriter, r *http.Request) {
		answer(w, object{"status": "Ready", "result": object{"sample": fileURL(r, r.FormValue("id"))}})
	})
	mux.HandleFunc("POST /v1/models/acme/fox/predictions", func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Input struct {
				imagegen.Size
				Ratio string `json:"aspect_ratio"`
			}
		}
		read(r, &q)
		z, err := q.Input.Size, error(nil)
		if q.Input.Ratio != "" {
			z = named[q.Input.Ratio]
		}
		if q.Input.Ratio == "" || z.Auto() {
			err = legal(z, 16, 256, 3840, 1, 2048*2048, 3)
		}
		answer(w, object{"urls": object{"get": fmt.Sprintf("http://%s/v1/predictions/%d", r.Host, e.take(z, err))}})
	})
	mux.HandleFunc("GET /v1/predictions/{id}", func(w http.ResponseWriter, r *http.Request) {
		answer(w, object{"status": "succeeded", "output": fileURL(r, r.PathValue("id"))})
	})
	mux.HandleFunc("POST /acme/fox", func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Size imagegen.Size `json:"image_size"`
		}
		read(r, &q)
		address := fmt.Sprintf("http://%s/acme/fox/requests/%d", r.Host,
			e.take(q.Size, legal(q.Size, 8, 512, 4096, 1, 4096*4096, 3)))
		answer(w, object{"response_url": address, "status_url": address + "/status"})
	})
	mux.HandleFunc("GET /acme/fox/requests/{id}/status", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, object{"status": "COMPLETED"})
	})
	mux.HandleFunc("GET /acme/fox/requests/{id}", func(w http.ResponseWriter, r *http.Request) {
		answer(w, object{"images": []object{{"url": fileURL(r, r.PathValue("id"))}}})
	})
}

// legal checks a size against an upstream's rules.
func legal(z imagegen.Size, step, least, most, leastArea, mostArea int, aspect float64) error {
	long, short := max(z.Width, z.Height), min(z.Width, z.Height)
	if z.Width%step != 0 || z.Height%step != 0 || short < least || long > most || z.Area() < leastArea ||
		z.Area() > mostArea ||
		float64(long) > aspect*float64(short) {
		return fmt.Errorf("edges of %d to %d in steps of %d, areas of %d to %d, and shapes up to %v:1 are legal", least,
			most, step, leastArea, mostArea, aspect)
	}
	return nil
}

func fileURL(r *http.Request, id string) string { return "http://" + r.Host + "/files/" + id }

// read leaves v as it is if the body cannot be read: no size is legal then.
func read(r *http.Request, v any) { json.NewDecoder(r.Body).Decode(v) }

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v)
}
