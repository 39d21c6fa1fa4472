package bfl_test

import (
	"encoding/json"
	"net/http"

	"github.com/imagegend/imagegend/imagegen/provider/internal/hosted/hostedtest"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstreamtest"
)

const key = "bfl-key-0123456789"

type object = map[string]any

// double answers as the API does (docs.bfl.ai, help.bfl.ai): with the fields of each model and no others.
func double() *hostedtest.Double {
	d := &hostedtest.Double{Header: "X-Key", Key: key, Refuse: func(w http.ResponseWriter, status int, why string) {
		upstreamtest.Answer(w, status, object{"detail": why})
	}}
	d.Routes = map[string]http.HandlerFunc{
		"GET /v1/credits": func(w http.ResponseWriter, _ *http.Request) {
			upstreamtest.Answer(w, http.StatusOK, object{"credits": 12.5})
		},
		"GET /v1/get_result": func(w http.ResponseWriter, r *http.Request) {
			id := r.FormValue("id")
			s, ok := d.Task(id)
			if !ok {
				upstreamtest.Answer(w, http.StatusNotFound, object{"id": id, "status": "Task not found", "result": nil})
				return
			}
			status := http.StatusOK
			if s.Fields["prompt"] == hostedtest.Forbidden {
				// what was moderated comes so (vercel/ai, packages/black-forest-labs)
				status = http.StatusServiceUnavailable
			}
			upstreamtest.Answer(w, status, state(r, id, s.Fields))
		},
		"POST /v1/{model}": func(w http.ResponseWriter, r *http.Request) {
			in, ok := inputs[r.PathValue("model")]
			s := hostedtest.Sent{Path: r.URL.Path}
			err := json.NewDecoder(r.Body).Decode(&s.Fields)
			switch problem := in.check(s.Fields); {
			case !ok:
				d.Refuse(w, http.StatusNotFound, "Not Found")
			case err != nil:
				d.Refuse(w, http.StatusBadRequest, err.Error())
			case problem != "":
				upstreamtest.Answer(w, http.StatusUnprocessableEntity,
					object{"detail": []object{{"msg": problem, "type": "value_error"}}})
			default:
				id := d.Submit(s)
				// the figures are those of docs.bfl.ai, flux-2 (2026-11-27)
				upstreamtest.Answer(w, http.StatusOK, object{"id": id, "cost": 4.5, "input_mp": 0, "output_mp": 1.98,
					"polling_url": "http://" + r.Host + "/v1/get_result?id=" + id})
			}
		},
	}
	return d
}

func state(r *http.Request, id string, fields object) object {
	switch fields["prompt"] {
	case hostedtest.Endless:
		return object{"id": id, "status": "Pending", "result": nil, "progress": 0.5}
	case hostedtest.Forbidden:
		return object{"id": id, "status": "Request Moderated", "result": nil,
			"details": object{"Moderation Reasons": []string{"Derivative Works Filter"}}}
	}
	return object{"id": id, "status": "Ready", "result": object{"seed": 42, "prompt": fields["prompt"],
		"sample": "http://" + r.Host + "/files/" + size(fields) + format(fields)}}
}

// format is what comes out where it was asked for.
func format(fields object) string {
	if f, ok := fields["output_format"].(string); ok {
		return "?as=" + f
	}
	return ""
}
