package upstreams_test

import (
	"fmt"
	"net/http"
	"strconv"
)

// routes are the answers of a stand-in, by pattern.
type routes map[string]http.HandlerFunc

func (s *tasks) bfl() routes {
	return routes{
		"POST /v1/flux-2-pro": func(w http.ResponseWriter, r *http.Request) {
			id := s.submit()
			answer(w, object{"id": id, "polling_url": "http://" + r.Host + "/v1/get_result?id=" + id})
		},
		"GET /v1/get_result": func(w http.ResponseWriter, r *http.Request) {
			if !s.poll(r.FormValue("id")) {
				answer(w, object{"status": "Pending"})
				return
			}
			answer(w, object{"status": "Ready", "result": object{"sample": s.file(r)}})
		},
	}
}

func (s *tasks) replicate() routes {
	show := func(w http.ResponseWriter, r *http.Request, id, status string) {
		address := "http://" + r.Host + "/v1/predictions/" + id
		p := object{"id": id, "status": status, "urls": object{"get": address, "cancel": address + "/cancel"}}
		if status == "succeeded" {
			p["output"] = s.file(r)
		}
		answer(w, p)
	}
	return routes{
		"POST /v1/models/acme/fox/predictions": func(w http.ResponseWriter, r *http.Request) {
			show(w, r, s.submit(), "starting")
		},
		"GET /v1/predictions/{id}": func(w http.ResponseWriter, r *http.Request) {
			status := "processing"
			if s.poll(r.PathValue("id")) {
				status = "succeeded"
			}
			show(w, r, r.PathValue("id"), status)
		},
		"POST /v1/predictions/{id}/cancel": func(http.ResponseWriter, *http.Request) { s.cancel() },
	}
}

func (s *tasks) fal() routes {
	return routes{
		"POST /acme/fox": func(w http.ResponseWriter, r *http.Request) {
			id := s.submit()
			address := "http://" + r.Host + "/acme/fox/requests/" + id
			answer(w, object{"request_id": id, "response_url": address, "status_url": address + "/status",
				"cancel_url": address + "/cancel"})
		},
		"GET /acme/fox/requests/{id}/status": func(w http.ResponseWriter, r *http.Request) {
			status := "IN_PROGRESS"
			if s.poll(r.PathValue("id")) {
				status = "COMPLETED"
			}
			answer(w, object{"status": status})
		},
		"GET /acme/fox/requests/{id}": func(w http.ResponseWriter, r *http.Request) {
			answer(w, object{"images": []object{{"url": s.file(r)}}})
		},
		"PUT /acme/fox/requests/{id}/cancel": func(http.ResponseWriter, *http.Request) { s.cancel() },
	}
}

func (s *tasks) comfyui() routes {
	picture := object{"filename": "1.png", "subfolder": "", "type": "output"}
	return routes{
		"POST /prompt": func(w http.ResponseWriter, _ *http.Request) { answer(w, object{"prompt_id": s.submit()}) },
		"GET /history/{id}": func(w http.ResponseWriter, r *http.Request) {
			id := r.PathValue("id")
			submitted, _ := s.count()
			if n, err := strconv.Atoi(id); err != nil || n > submitted || !s.poll(id) { // it has ids of its own
				answer(w, object{})
				return
			}
			answer(w, object{id: object{"outputs": object{"9": object{"images": []object{picture}}},
				"status": object{"status_str": "success"}}})
		},
		"GET /queue": func(w http.ResponseWriter, _ *http.Request) {
			submitted, _ := s.count()
			running := []any{}
			for i := range submitted {
				id := fmt.Sprint(i + 1)
				s.poll(id)
				running = append(running, []any{i, id, object{}, object{}, []string{"9"}})
			}
			answer(w, object{"queue_running": running, "queue_pending": []any{}})
		},
		"POST /queue":     func(http.ResponseWriter, *http.Request) { s.cancel() },
		"POST /interrupt": func(http.ResponseWriter, *http.Request) { s.cancel() },
		"GET /view":       sendBlank,
	}
}

// workflow is the least that ComfyUI could run.
const workflow = `{
	"3": {"class_type": "KSampler", "inputs": {"seed": "{{seed}}", "steps": "{{steps}}", "latent_image": ["5", 0]}},
	"5": {"class_type": "EmptyLatentImage", "inputs": {"width": "{{width}}", "height": "{{height}}", "batch_size": 1}},
	"6": {"class_type": "CLIPTextEncode", "inputs": {"text": "{{prompt}}"}},
	"9": {"class_type": "SaveImage", "inputs": {"images": ["3", 0]}}
}`

func (s *tasks) openai() routes {
	return routes{"POST /v1/images/generations": func(w http.ResponseWriter, r *http.Request) {
		s.submit()
		answer(w, object{"data": []object{{"url": s.file(r)}}})
	}}
}

func (s *tasks) gemini() routes {
	return routes{"POST /v1beta/models/gemini-3-pro-image:generateContent": func(w http.ResponseWriter,
		_ *http.Request) {
		s.submit()
		answer(w, object{
			"candidates": []object{
				{"content": object{"parts": []object{{"inlineData": object{"mimeType": "image/png",
					"data": blank}}}}}}})
	}}
}

func (s *tasks) sdwebui() routes {
	return routes{"POST /sdapi/v1/txt2img": func(w http.ResponseWriter, _ *http.Request) {
		s.submit()
		answer(w, object{"images": [][]byte{blank}})
	}}
}
