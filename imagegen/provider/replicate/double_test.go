package replicate_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/imagegend/imagegend/imagegen/provider/internal/hosted/hostedtest"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstreamtest"
)

const key = "r8_0123456789abcdef"

type object = map[string]any

// double answers as the API does: statuses and bodies are those of replicate.com/docs/reference/http, and of
// replicate/replicate-javascript, issue 249.
func double() *hostedtest.Double {
	d := &hostedtest.Double{Header: "Authorization", Key: "Bearer " + key,
		Refuse: func(w http.ResponseWriter, status int, why string) {
			upstreamtest.Answer(w, status, object{"title": http.StatusText(status), "detail": why, "status": status})
		}}
	show := func(w http.ResponseWriter, r *http.Request) {
		id := r.PathValue("id")
		s, ok := d.Task(id)
		if !ok {
			d.Refuse(w, http.StatusNotFound, "The requested resource does not exist")
			return
		}
		upstreamtest.Answer(w, http.StatusOK, prediction(r, id, s, state(r, s.Fields)))
	}
	create := func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Version string `json:"version"`
			Input   object `json:"input"`
		}
		err := upstreamtest.Decode(r, &body)
		s := hostedtest.Sent{Path: r.URL.Path, Fields: body.Input}
		if err == nil {
			err = check(s, body.Version)
		}
		if err != nil {
			d.Refuse(w, http.StatusUnprocessableEntity, "Input validation failed: "+err.Error())
			return
		}
		upstreamtest.Answer(w, http.StatusCreated, prediction(r, d.Submit(s), s, object{"status": "starting",
			"output": nil, "error": nil}))
	}
	model := func(w http.ResponseWriter, _ *http.Request) {
		upstreamtest.Answer(w, http.StatusOK, object{"owner": "acme", "name": "fox"})
	}
	d.Routes = map[string]http.HandlerFunc{
		"POST /v1/models/acme/fox/predictions": create, "POST /v1/deployments/acme/fox/predictions": create,
		"POST /v1/predictions": create, "GET /v1/models/acme/fox": model,
		"GET /v1/models/acme/fox/versions/5c7d5dc6": model, "GET /v1/deployments/acme/fox": model,
		"GET /v1/predictions/{id}": show,
		"POST /v1/predictions/{id}/cancel": func(w http.ResponseWriter, r *http.Request) {
			d.Cancel(r.PathValue("id"))
			show(w, r)
		},
	}
	return d
}

// prediction has metrics once the model has run: replicate.com/docs/topics/predictions (2026-11-27).
func prediction(r *http.Request, id string, s hostedtest.Sent, p object) object {
	p["metrics"] = object{}
	if p["status"] == "succeeded" || p["status"] == "failed" {
		p["metrics"] = object{"predict_time": 2.345678, "total_time": 3.5}
	}
	address := fmt.Sprintf("http://%s/v1/predictions/%s", r.Host, id)
	p["id"], p["input"], p["urls"] = id, s.Fields, object{"get": address, "cancel": address + "/cancel"}
	return p
}

func state(r *http.Request, input object) object {
	switch input["prompt"] {
	case hostedtest.Endless:
		return object{"status": "processing", "output": nil, "error": nil, "logs": "50%"}
	case hostedtest.Forbidden:
		return object{"status": "failed", "output": nil,
			"error": "The input or output was flagged as sensitive. Please try again with different inputs. (E005)"}
	}
	address := "http://" + r.Host + "/files/" + sizeOf(input)
	if f, ok := input["output_format"].(string); ok {
		address += "?as=" + strings.Replace(f, "jpg", "jpeg", 1)
	}
	if n, many := input["num_outputs"].(float64); many {
		return object{"status": "succeeded", "output": slices.Repeat([]string{address}, int(n)), "error": nil}
	}
	return object{"status": "succeeded", "output": address, "error": nil}
}
