package openaitest

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/imagegend/imagegend/imagegen/provider/internal/upstreamtest"
)

// allowed are the fields of gpt-image-2 without streaming: openai/openai-go, image.go, and EditImageBodyJsonParam of
// openai/openai-openapi.
var allowed = map[string][]string{
	"/v1/images/generations": {"model", "prompt", "n", "size", "quality", "background", "output_format", "output_compression", "moderation", "user"},
	"/v1/images/edits": {"model", "prompt", "n", "size", "quality", "background", "output_format", "output_compression", "moderation", "input_fidelity",
		"user"},
}

// choices are what fields can be.
var choices = map[string][]string{
	"quality":        {"auto", "low", "medium", "high"},
	"background":     {"auto", "opaque", "transparent"},
	"output_format":  {"png", "jpeg", "webp"},
	"moderation":     {"auto", "low"},
	"input_fidelity": {"low", "high"},
}

// check is what the API refuses, and which parameter it blames.
func check(q Request) (param string, err error) {
	for name, value := range q.Params {
		if !slices.Contains(allowed[q.Path], name) {
			return name, fmt.Errorf("unknown parameter: %q", name)
		}
		if known, closed := choices[name]; closed && !slices.Contains(known, text(value, "")) {
			return name, fmt.Errorf("%s is %v", name, value)
		}
	}
	prompt := text(q.Params["prompt"], "")
	switch n := number(q.Params["n"], 1); {
	case q.Params["model"] != "gpt-image-2":
		return "model", errors.New("the model does not exist")
	case prompt == "" || utf8.RuneCountInString(prompt) > 32_000:
		return "prompt", errors.New("the prompt is empty or too long")
	case n < 1 || n > 10:
		return "n", fmt.Errorf("n is %d", n)
	case q.Params["output_compression"] != nil && text(q.Params["output_format"], "png") == "png":
		return "output_compression", errors.New("output_compression is for jpeg and webp")
	}
	if err := checkSize(text(q.Params["size"], "auto")); err != nil {
		return "size", err
	}
	return "image", checkFiles(q)
}

func checkSize(s string) error {
	if s == "auto" {
		return nil
	}
	var w, h int
	if _, err := fmt.Sscanf(s, "%dx%d", &w, &h); err != nil || s != fmt.Sprintf("%dx%d", w, h) {
		return fmt.Errorf("size is %q", s)
	}
	switch {
	case w%16 != 0 || h%16 != 0:
		return fmt.Errorf("size %s: both edges must be multiples of 16", s)
	case w > 3840 || h > 3840:
		return fmt.Errorf("size %s: the longest edge is 3840", s)
	case w > 3*h || h > 3*w:
		return fmt.Errorf("size %s: the aspect ratio is beyond 3:1", s)
	case w*h < 655_360 || w*h > 8_294_400:
		return fmt.Errorf("size %s: %d pixels are too few or too many", s, w*h)
	}
	return nil
}

func checkFiles(q Request) error {
	if q.Path != "/v1/images/edits" {
		return nil
	}
	if len(q.Files) < 1 || len(q.Files) > 16 {
		return fmt.Errorf("%d images", len(q.Files))
	}
	for _, f := range q.Files {
		if f.Field != "image[]" || f.Size >= 50_000_000 || !slices.Contains([]string{"image/png", "image/jpeg", "image/webp"}, f.MediaType) {
			return fmt.Errorf("invalid image file %+v", f)
		}
	}
	return nil
}

func text(v any, absent string) string {
	if s, ok := v.(string); ok {
		return s
	}
	return absent
}

func number(v any, absent int) int {
	if n, ok := v.(float64); ok {
		return int(n)
	}
	return absent
}

// picture is an image of that size, written WxH.
func picture(size string) []byte {
	var w, h int
	fmt.Sscanf(size, "%dx%d", &w, &h) // it was checked
	return upstreamtest.PNG(w, h)
}
