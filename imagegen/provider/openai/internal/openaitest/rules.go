package openaitest

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/imagegend/imagegend/imagegen/provider/internal/upstreamtest"
)

// allowed are the fields that every model takes at each endpoint, without those for streaming:
// developers.openai.com/api/reference/resources/images/methods/generate and .../edit.
var allowed = map[string][]string{
	"/v1/images/generations": {"model", "prompt", "n", "size", "quality", "background", "output_format",
		"output_compression", "moderation", "user"},
	"/v1/images/edits": {"model", "prompt", "n", "size", "quality", "background", "output_format", "output_compression",
		"moderation", "input_fidelity", "user"},
}

// choices are the values that fields can have. Fields that are not in it are checked by functions of their own.
var choices = map[string][]string{
	"background":     {"auto", "opaque", "transparent"},
	"output_format":  {"png", "jpeg", "webp"},
	"moderation":     {"auto", "low"},
	"input_fidelity": {"low", "high"},
	"complexity":     {"low", "medium", "high"},
}

// model is what a model takes.
type model struct {
	sizes     []string // nil: those that the rules of gpt-image-2 allow
	qualities []string
	more      []string // fields beyond allowed
	without   []string // fields of allowed that it refuses
	opaque    bool     // it refuses a transparent background
}

var (
	upToHigh = []string{"auto", "low", "medium", "high"}
	upToMax  = append(slices.Clone(upToHigh), "xhigh", "max")
)

// models are some of those in the API reference. That gpt-image-2 refuses input_fidelity:
// pydantic/pydantic-ai, issue 5413.
var models = map[string]model{
	"gpt-image-2.6-sunburst": {qualities: upToMax, more: []string{"complexity"}},
	"gpt-image-2.5-flare":    {qualities: upToMax},
	"gpt-image-2":            {qualities: upToHigh, without: []string{"input_fidelity"}, opaque: true},
	"gpt-image-1.5":          {qualities: upToHigh, sizes: []string{"auto", "1024x1024", "1536x1024", "1024x1536"}},
}

// check returns why the API refuses a request, and the parameter that it blames; a nil error if it does not.
func check(q Request) (param string, err error) {
	m, ok := models[text(q.Params["model"], "")]
	if !ok {
		return "model", errors.New("the model does not exist")
	}
	if param, err := m.checkFields(q); err != nil {
		return param, err
	}
	prompt := text(q.Params["prompt"], "")
	switch n := number(q.Params["n"], 1); {
	case prompt == "" || utf8.RuneCountInString(prompt) > 32_000:
		return "prompt", errors.New("the prompt is empty or too long")
	case n < 1 || n > 10:
		return "n", fmt.Errorf("n is %d", n)
	case q.Params["output_compression"] != nil && text(q.Params["output_format"], "png") == "png":
		return "output_compression", errors.New("output_compression is for jpeg and webp")
	}
	if err := m.checkBackground(q); err != nil {
		return "background", err
	}
	if err := m.checkSize(text(q.Params["size"], "auto")); err != nil {
		return "size", err
	}
	return "image", checkFiles(q)
}

func (m model) checkFields(q Request) (param string, err error) {
	for name, value := range q.Params {
		switch known, closed := choices[name]; {
		case slices.Contains(m.without, name):
			return name, fmt.Errorf("the model does not support the %q parameter", name)
		case !slices.Contains(allowed[q.Path], name) && !slices.Contains(m.more, name):
			return name, fmt.Errorf("unknown parameter: %q", name)
		case closed && !slices.Contains(known, text(value, "")), name == "quality" &&
			!slices.Contains(m.qualities, text(value, "")):
			return name, fmt.Errorf("%s is %v", name, value)
		}
	}
	return "", nil
}

func (m model) checkBackground(q Request) error {
	switch {
	case text(q.Params["background"], "") != "transparent":
		return nil
	case m.opaque:
		return errors.New("transparent background is not supported for this model")
	case text(q.Params["output_format"], "png") == "jpeg":
		return errors.New("transparent background needs png or webp")
	}
	return nil
}

// checkSize applies the rules of gpt-image-2 unless the model has sizes.
func (m model) checkSize(s string) error {
	if s == "auto" || slices.Contains(m.sizes, s) {
		return nil
	}
	if m.sizes != nil {
		return fmt.Errorf("size %s: supported values are %v", s, m.sizes)
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

// checkFiles checks the files of an edit: 1 to 16 images, and a mask, which must be the last.
func checkFiles(q Request) error {
	if q.Path != "/v1/images/edits" {
		return nil
	}
	files := q.Files
	if last := len(files) - 1; last >= 0 && files[last].Field == "mask" {
		if m := files[last]; m.Size >= 4_000_000 || m.MediaType != "image/png" {
			return fmt.Errorf("invalid mask %+v", m)
		}
		files = files[:last]
	}
	if len(files) < 1 || len(files) > 16 {
		return fmt.Errorf("%d images", len(files))
	}
	for _, f := range files {
		if f.Field != "image[]" || f.Size >= 50_000_000 ||
			!slices.Contains([]string{"image/png", "image/jpeg", "image/webp"}, f.MediaType) {
			return fmt.Errorf("invalid image file %+v", f)
		}
	}
	return nil
}

// text and number return the value of a parameter, or what it counts as if it is absent or of another type.
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

// picture is an image of that size, written WxH, in a format.
func picture(size, format string, transparent bool) []byte {
	var w, h int
	fmt.Sscanf(size, "%dx%d", &w, &h) // it was checked
	return upstreamtest.Picture(w, h, format, transparent)
}
