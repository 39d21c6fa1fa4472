// Package geminitest is a stand-in for the Gemini API. It follows googleapis/go-genai, types.go and models.go, for
// requests and answers; ai.google.dev/gemini-api/docs/image-generation for sizes; and googleapis/googleapis,
// google/rpc/error_details.proto, for errors. It refuses fields that it does not know, as the API does.
package geminitest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/imagegend/imagegend/imagegen/provider/internal/upstreamtest"
)

// Key is the only key that the server takes.
const Key = "AIza-test-0123456789abcdef"

// Prompts that the server knows.
const (
	Endless   = "never finish this"              // answers when the client has gone
	Forbidden = "a forbidden prompt"             // refused before an image is made
	Unsafe    = "an image that turns out unsafe" // refused afterwards
	Chatty    = "an answer in words"             // answered without an image
	Pensive   = "an answer with sketches"        // thoughts, as Part of googleapis/go-genai, types.go, has them
)

// Request is the body of a generateContent call.
type Request struct {
	Contents []struct {
		Role  string
		Parts []Part
	}
	GenerationConfig struct {
		ResponseModalities []string
		ImageConfig        struct{ AspectRatio, ImageSize string }
		Seed               *int32
	}
}

// Part is a piece of a request.
type Part struct {
	Text       string
	InlineData *struct {
		MimeType string
		Data     []byte
	}
}

// Server answers as the API does for gemini-3-pro-image. The zero value is ready for use, and
// it is safe for concurrent use.
type Server struct {
	// Before is called first, if it is set; true means that it has answered.
	Before func(w http.ResponseWriter, r *http.Request) bool

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
	if s.Before != nil && s.Before(w, r) {
		return
	}
	if r.Header.Get("X-Goog-Api-Key") != Key {
		fail(w, http.StatusBadRequest, "INVALID_ARGUMENT", "API key not valid.",
			map[string]any{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID",
				"domain": "googleapis.com"})
		return
	}
	switch r.Method + " " + r.URL.Path {
	case "GET /v1beta/models/gemini-3-pro-image":
		answer(w, map[string]any{"name": "models/gemini-3-pro-image", "displayName": "Gemini 3 Pro Image"})
	case "POST /v1beta/models/gemini-3-pro-image:generateContent":
		s.generate(w, r)
	default:
		fail(w, http.StatusNotFound, "NOT_FOUND", "the model is not found for API version v1beta")
	}
}

func (s *Server) generate(w http.ResponseWriter, r *http.Request) {
	var q Request
	if err := upstreamtest.Decode(r, &q); err != nil {
		fail(w, http.StatusBadRequest, "INVALID_ARGUMENT", err.Error())
		return
	}
	s.mu.Lock()
	s.requests = append(s.requests, q)
	s.mu.Unlock()
	size, err := q.size()
	if err != nil {
		fail(w, http.StatusBadRequest, "INVALID_ARGUMENT", err.Error())
		return
	}
	usage := map[string]any{"promptTokenCount": 8, "totalTokenCount": 8,
		"promptTokensDetails": []any{map[string]any{"modality": "TEXT", "tokenCount": 8}}}
	switch q.Contents[0].Parts[0].Text {
	case Endless:
		<-r.Context().Done()
	case Forbidden:
		answer(w, map[string]any{"promptFeedback": map[string]any{"blockReason": "PROHIBITED_CONTENT"},
			"usageMetadata": usage})
	case Unsafe:
		answer(w, map[string]any{"candidates": []any{map[string]any{"finishReason": "IMAGE_SAFETY", "index": 0}},
			"usageMetadata": usage})
	case Chatty:
		answer(w, candidate("STOP", map[string]any{"text": "What a lovely idea!"}))
	case Pensive:
		sketch := map[string]any{"mimeType": "image/png", "data": upstreamtest.PNG(64, 64)}
		answer(w, candidate("STOP", map[string]any{"text": "Let me think.", "thought": true},
			map[string]any{"inlineData": sketch, "thought": true}, map[string]any{"thought": true, "inlineData": sketch,
				"thoughtSignature": "c2ln"},
			map[string]any{"inlineData": map[string]any{"mimeType": "image/png", "data": upstreamtest.PNG(size[0],
				size[1])}, "thoughtSignature": "c2ln"}))
	default:
		answer(w, candidate("STOP", map[string]any{"text": "Here it is."},
			map[string]any{"inlineData": map[string]any{"mimeType": "image/png", "data": upstreamtest.PNG(size[0],
				size[1])}}))
	}
}

// candidate is an answer with one candidate. Its usage is that of GenerateContentResponseUsageMetadata in
// googleapis/go-genai, types.go, where the total has the thoughts beside the candidates (2026-11-27).
func candidate(finish string, parts ...any) map[string]any {
	count := func(modality string, n int) map[string]any {
		return map[string]any{"modality": modality, "tokenCount": n}
	}
	return map[string]any{"candidates": []any{map[string]any{"content": map[string]any{"role": "model", "parts": parts},
		"finishReason": finish, "index": 0}}, "modelVersion": "gemini-3-pro-image",
		"usageMetadata": map[string]any{"promptTokenCount": 568, "candidatesTokenCount": 1150,
			"thoughtsTokenCount": 200, "totalTokenCount": 1918,
			"promptTokensDetails":     []any{count("TEXT", 8), count("IMAGE", 560)},
			"candidatesTokensDetails": []any{count("IMAGE", 1120), count("TEXT", 30)}}}
}

// made are the documented sizes for 1K, by the ratio that is asked for.
var made = map[string][2]int{"": {1024, 1024}, "1:1": {1024, 1024}, "2:3": {848, 1264}, "3:2": {1264, 848},
	"3:4": {896, 1200}, "4:3": {1200, 896}, "4:5": {928, 1152}, "5:4": {1152, 928}, "9:16": {768, 1376},
	"16:9": {1376, 768}, "21:9": {1584, 672}}

// size is what the API makes of a request, or why it refuses it.
func (q Request) size() (z [2]int, err error) {
	image := q.GenerationConfig.ImageConfig
	z, ok := made[image.AspectRatio]
	times, known := map[string]int{"": 1, "1K": 1, "2K": 2, "4K": 4}[image.ImageSize]
	if !ok || !known {
		return z, fmt.Errorf("invalid imageConfig %+v", image)
	}
	if len(q.Contents) != 1 || len(q.Contents[0].Parts) < 1 || len(q.Contents[0].Parts) > 15 {
		return z, fmt.Errorf("invalid contents")
	}
	for _, p := range q.Contents[0].Parts[1:] {
		if p.InlineData == nil || !strings.HasPrefix(http.DetectContentType(p.InlineData.Data), p.InlineData.MimeType) {
			return z, fmt.Errorf("invalid image part")
		}
	}
	return [2]int{times * z[0], times * z[1]}, nil
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.Encode(v)
}

func fail(w http.ResponseWriter, status int, name, message string, details ...any) {
	upstreamtest.Answer(w, status, map[string]any{"error": map[string]any{"code": status, "message": message,
		"status": name, "details": details}})
}
