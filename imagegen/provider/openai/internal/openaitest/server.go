// Package openaitest is a stand-in for the OpenAI images API: developers.openai.com/api/reference/resources/images, and
// openai/openai-openapi for the form of errors.
package openaitest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/imagegend/imagegend/imagegen/provider/internal/upstreamtest"
)

// Key is the only key that the server takes.
const Key = "sk-test-0123456789abcdef"

// Prompts that the server knows.
const (
	Endless   = "never finish this"        // answers when the client has gone
	Forbidden = "draw something forbidden" // refused by moderation
)

// Request is what arrived, with the names and lengths of files in place of their bytes.
type Request struct {
	Path   string
	Params map[string]any
	Files  []File
}

// File is one file of a form.
type File struct {
	Field, Name, MediaType string
	Size                   int
}

// Server answers as the API does for some models, gpt-image-2 among them. The zero value is ready for use.
type Server struct {
	// Before is called first, if it is set; true means that it has answered.
	Before func(w http.ResponseWriter, r *http.Request) bool
	// Link returns the URL at which a path of the server is reached. If it is set, the server
	// answers with such URLs instead of bytes.
	Link func(path string) string

	mu       sync.Mutex
	requests []Request
}

// Requests returns the requests so far, also those that were refused, but not those that could not be read.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if size, ok := strings.CutPrefix(r.URL.Path, "/files/"); ok {
		w.Header().Set("Content-Type", "image/png")
		w.Write(picture(size, r.FormValue("format"), r.FormValue("background") == "transparent"))
		return
	}
	if s.Before != nil && s.Before(w, r) {
		return
	}
	if r.Header.Get("Authorization") != "Bearer "+Key {
		fail(w, http.StatusUnauthorized, "invalid_request_error", "invalid_api_key", "", "Incorrect API key provided.")
		return
	}
	route := r.Method + " " + strings.TrimPrefix(r.URL.Path, "/v1")
	if id, ok := strings.CutPrefix(route, "GET /models/"); ok && models[id].qualities != nil {
		upstreamtest.Answer(w, http.StatusOK, map[string]any{"id": id, "object": "model", "created": 1776729600,
			"owned_by": "system"})
		return
	}
	switch route {
	case "POST /images/generations":
		s.generate(w, r, parseJSON)
	case "POST /images/edits":
		s.generate(w, r, parseForm)
	case "GET /models":
		upstreamtest.Answer(w, http.StatusOK, map[string]any{"object": "list",
			"data": []any{map[string]any{"id": "gpt-image-2", "object": "model"}}})
	default:
		fail(w, http.StatusNotFound, "invalid_request_error", "model_not_found", "model", "The model does not exist.")
	}
}

func (s *Server) generate(w http.ResponseWriter, r *http.Request, parse func(*http.Request) (Request, error)) {
	q, err := parse(r)
	if err != nil {
		fail(w, http.StatusBadRequest, "invalid_request_error", "invalid_value", "", err.Error())
		return
	}
	s.mu.Lock()
	s.requests = append(s.requests, q)
	s.mu.Unlock()
	if param, err := check(q); err != nil {
		fail(w, http.StatusBadRequest, "invalid_request_error", "invalid_value", param, err.Error())
		return
	}
	switch q.Params["prompt"] {
	case Forbidden:
		fail(w, http.StatusBadRequest, "image_generation_user_error", "moderation_blocked", "",
			"Your request was rejected by the safety system.")
	case Endless:
		<-r.Context().Done()
	default:
		upstreamtest.Answer(w, http.StatusOK, s.images(q))
	}
}

func (s *Server) images(q Request) map[string]any {
	size := text(q.Params["size"], "auto")
	if size == "auto" {
		size = "1024x1024"
	}
	format, background := text(q.Params["output_format"], "png"), text(q.Params["background"], "opaque")
	data := make([]map[string]any, number(q.Params["n"], 1))
	for i := range data {
		if s.Link != nil {
			data[i] = map[string]any{"url": s.Link("/files/" + size + "?format=" + format + "&background=" +
				background), "b64_json": ""}
		} else {
			// []byte is base64 in JSON
			data[i] = map[string]any{"b64_json": picture(size, format, background == "transparent")}
		}
	}
	return map[string]any{"created": 1776729600, "data": data, "size": size, "quality": text(q.Params["quality"],
		"auto"),
		"output_format": format, "background": background, "usage": usage(q, len(data))}
}

// usage is that of openai/openai-openapi, ImagesResponse, with details of both directions (2026-11-27).
func usage(q Request, images int) map[string]any {
	in, out := 323*len(q.Files), 272*images
	return map[string]any{"input_tokens": 12 + in, "output_tokens": 40 + out, "total_tokens": 52 + in + out,
		"input_tokens_details":  map[string]any{"text_tokens": 12, "image_tokens": in},
		"output_tokens_details": map[string]any{"text_tokens": 40, "image_tokens": out}}
}

func parseJSON(r *http.Request) (q Request, err error) {
	q.Path = r.URL.Path
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
		return q, fmt.Errorf("unsupported content type %q", r.Header.Get("Content-Type"))
	}
	return q, json.NewDecoder(r.Body).Decode(&q.Params)
}

// parseForm makes numbers of the fields that are numbers in JSON, so that check need not tell forms from JSON.
func parseForm(r *http.Request) (q Request, err error) {
	q.Path, q.Params = r.URL.Path, map[string]any{}
	if r.ContentLength < 0 {
		return q, fmt.Errorf("a length is required")
	}
	form, err := r.MultipartReader()
	if err != nil {
		return q, err
	}
	for {
		part, err := form.NextPart()
		if err == io.EOF {
			return q, nil
		}
		if err != nil {
			return q, err
		}
		raw, err := io.ReadAll(part)
		if err != nil {
			return q, err
		}
		switch {
		case part.FileName() != "":
			q.Files = append(q.Files, File{part.FormName(), part.FileName(), http.DetectContentType(raw), len(raw)})
		case slices.Contains([]string{"n", "output_compression"}, part.FormName()):
			n, err := strconv.ParseFloat(string(raw), 64)
			if err != nil {
				return q, err
			}
			q.Params[part.FormName()] = n
		default:
			q.Params[part.FormName()] = string(raw)
		}
	}
}

func fail(w http.ResponseWriter, status int, kind, code, param, message string) {
	upstreamtest.Answer(w, status, map[string]any{"error": map[string]any{"message": message, "type": kind,
		"param": param, "code": code}})
}
