package fal_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/imagegend/imagegend/imagegen/provider/internal/hosted/hostedtest"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstreamtest"
)

const key = "id:0123456789abcdef"

type object = map[string]any

// double answers as the queue does for a model with fal's usual fields, and as the platform's API: statuses and bodies
// are those of fal.ai/docs, documentation/model-apis/inference/queue, inference-api/queue/cancel and
// documentation/model-apis/errors.
func double() *hostedtest.Double {
	d := &hostedtest.Double{Header: "Authorization", Key: "Key " + key,
		Refuse: func(w http.ResponseWriter, status int, why string) {
			upstreamtest.Answer(w, status, object{"detail": why})
		}}
	submit := func(w http.ResponseWriter, r *http.Request) {
		s := hostedtest.Sent{Path: r.URL.Path}
		if err := json.NewDecoder(r.Body).Decode(&s.Fields); err != nil {
			upstreamtest.Answer(w, http.StatusBadRequest, object{"detail": err.Error(), "error_type": "bad_request"})
			return
		}
		id := d.Submit(s)
		address := fmt.Sprintf("http://%s/acme/fox/requests/%s", r.Host, id) // without the endpoint's path
		upstreamtest.Answer(w, http.StatusOK, object{"status": "IN_QUEUE", "queue_position": 0, "request_id": id,
			"response_url": address, "status_url": address + "/status", "cancel_url": address + "/cancel"})
	}
	d.Routes = map[string]http.HandlerFunc{"POST /acme/fox": submit, "POST /acme/fox/edit": submit,
		"PUT /acme/fox/requests/{id}/cancel": known(d, func(w http.ResponseWriter, r *http.Request, s hostedtest.Sent) {
			if s.Fields["prompt"] != hostedtest.Endless {
				upstreamtest.Answer(w, http.StatusBadRequest, object{"status": "ALREADY_COMPLETED"})
				return
			}
			d.Cancel(r.PathValue("id"))
			upstreamtest.Answer(w, http.StatusAccepted, object{"status": "CANCELLATION_REQUESTED"})
		}),
		"GET /acme/fox/requests/{id}/status": known(d, status),
		"GET /acme/fox/requests/{id}":        known(d, response),
		"GET /platform/models/pricing": func(w http.ResponseWriter, r *http.Request) {
			if r.FormValue("endpoint_id") != "acme/fox" {
				d.Refuse(w, http.StatusNotFound, "Not Found")
				return
			}
			upstreamtest.Answer(w, http.StatusOK, object{"prices": []any{}})
		},
	}
	return d
}

// known answers for ids that are not.
func known(d *hostedtest.Double, h func(http.ResponseWriter, *http.Request, hostedtest.Sent)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if s, ok := d.Task(r.PathValue("id")); ok {
			h(w, r, s)
			return
		}
		upstreamtest.Answer(w, http.StatusNotFound, object{"detail": "Request not found", "status": "NOT_FOUND"})
	}
}

func status(w http.ResponseWriter, _ *http.Request, s hostedtest.Sent) {
	if s.Fields["prompt"] == hostedtest.Endless {
		upstreamtest.Answer(w, http.StatusAccepted, object{"status": "IN_PROGRESS", "logs": nil})
		return
	}
	upstreamtest.Answer(w, http.StatusOK, object{"status": "COMPLETED", "metrics": object{"inference_time": 1.5}})
}

// response has the billable units in a header, also of an error: fal-ai/fal-js, libs/client/src/response.spec.ts
// (2026-11-27).
func response(w http.ResponseWriter, r *http.Request, s hostedtest.Sent) {
	field, kind := check(s)
	switch {
	case s.Fields["prompt"] == hostedtest.Endless:
		upstreamtest.Answer(w, http.StatusBadRequest, object{"detail": "Request is still in progress"})
		return
	case kind == "" && s.Fields["prompt"] == hostedtest.Forbidden:
		field, kind = "prompt", "content_policy_violation"
	}
	if kind != "" {
		w.Header().Set("x-fal-billable-units", "0.25")
		upstreamtest.Answer(w, http.StatusUnprocessableEntity,
			object{"detail": []object{{"loc": []string{"body", field}, "msg": "no", "type": kind}}})
		return
	}
	n, many := s.Fields["num_images"].(float64)
	if !many {
		n = 1
	}
	w.Header().Set("x-fal-billable-units", fmt.Sprint(1.5*n))
	image := object{"url": "http://" + r.Host + "/files/" + sizeOf(s.Fields) + look(s.Fields),
		"content_type": "image/png"}
	upstreamtest.Answer(w, http.StatusOK, object{"images": slices.Repeat([]object{image}, int(n)), "seed": 42,
		"has_nsfw_concepts": make([]bool, int(n)), "timings": object{}})
}
