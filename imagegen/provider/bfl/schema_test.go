package bfl_test

import (
	"encoding/base64"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
)

// schema is a model's input: the names of its fields, and what is right in them.
type schema struct {
	fields    []string
	tolerance float64
	step      int // of width and height
	most      int // of either edge
}

// From the specification of the API (tryAGI/BlackForestLabs, src/libs/BlackForestLabs/openapi.json); FLUX.3 from
// docs.comfy.org/development/comfy-router/models/black-forest-labs/flux-3-image.
var (
	common  = []string{"prompt", "seed", "safety_tolerance", "output_format", "webhook_url", "webhook_secret"}
	numbers = []string{"input_image", "input_image_2", "input_image_3", "input_image_4"}
	flux2   = slices.Concat(common, numbers, []string{"width", "height"})
	inputs  = map[string]schema{
		"flux-2-pro": {slices.Concat(flux2, []string{"input_image_5", "input_image_6", "input_image_7",
			"input_image_8"}), 5, 16, 4096},
		"flux-2-klein-9b":  {flux2, 5, 16, 4096},
		"flux-kontext-pro": {slices.Concat(common, numbers, []string{"aspect_ratio", "prompt_upsampling"}), 6, 0, 0},
		"flux-pro-1.1-ultra": {slices.Concat(common, []string{"aspect_ratio", "prompt_upsampling", "raw",
			"image_prompt", "image_prompt_strength"}), 6, 0, 0},
		"flux-pro-1.1": {slices.Concat(common, []string{"width", "height", "prompt_upsampling", "image_prompt"}),
			6, 32, 1440},
		"flux-3-image": {[]string{"prompt", "images", "aspect_ratio", "resolution", "grounding",
			"safety_tolerance", "version"}, 4, 0, 0},
	}
	ratiosOf3 = []string{"auto", "21:9", "2:1", "16:9", "3:2", "7:5", "4:3", "5:4", "1:1", "4:5", "3:4", "5:7", "2:3",
		"9:16", "1:2", "9:21"}
)

func (in schema) check(fields map[string]any) string {
	for name := range fields {
		if !slices.Contains(in.fields, name) {
			return "extra inputs are not permitted: " + name
		}
	}
	if t, given := fields["safety_tolerance"].(float64); given && t > in.tolerance {
		return fmt.Sprintf("safety_tolerance should be at most %v", in.tolerance)
	}
	if f, given := fields["output_format"]; given && f != "jpeg" && f != "png" {
		return fmt.Sprintf("output_format %v", f)
	}
	if s, given := fields["seed"]; given && s != math.Trunc(s.(float64)) {
		return fmt.Sprintf("seed %v", s)
	}
	if in.step > 0 {
		width, _ := fields["width"].(float64)
		height, _ := fields["height"].(float64)
		w, h := int(width), int(height)
		if w%in.step != 0 || h%in.step != 0 || min(w, h) < 256 || max(w, h) > in.most || w*h > 2048*2048 {
			return fmt.Sprintf("%d x %d is not a size", w, h)
		}
	}
	if slices.Contains(in.fields, "resolution") {
		return checkFlux3(fields)
	}
	return ""
}

func checkFlux3(fields map[string]any) string {
	if v, given := fields["aspect_ratio"]; given && !slices.Contains(ratiosOf3, fmt.Sprint(v)) {
		return fmt.Sprintf("aspect_ratio %v", v)
	}
	if v, given := fields["resolution"]; given && !slices.Contains([]string{"768sq", "1k", "1.5k", "2k", "4k"},
		fmt.Sprint(v)) {
		return fmt.Sprintf("resolution %v", v)
	}
	images, given := fields["images"].([]any)
	if _, any := fields["images"]; any && (!given || len(images) < 1 || len(images) > 10) {
		return fmt.Sprintf("%d images", len(images))
	}
	for _, i := range images {
		if _, err := base64.StdEncoding.DecodeString(fmt.Sprint(i)); err != nil {
			return "an image is neither a URL nor base64"
		}
	}
	return ""
}

// size is what comes out: as asked for to the pixel, or what the model makes of a ratio.
func size(fields map[string]any) string {
	if fields["width"] != nil {
		return fmt.Sprintf("%vx%v", fields["width"], fields["height"])
	}
	ratio, _ := fields["aspect_ratio"].(string)
	if resolution, ok := fields["resolution"].(string); ok {
		return imagegen.SizeFor(imagegen.Ratio(ratio), imagegen.Tier(strings.ToUpper(resolution))).String()
	}
	if strings.Contains(fmt.Sprint(fields["prompt"]), "ultra") {
		return ultra[ratio]
	}
	return kontext[ratio]
}

var (
	ultra = map[string]string{"1:1": "2048x2048", "4:3": "2368x1792", "3:4": "1792x2368", "3:2": "2496x1664",
		"2:3": "1664x2496", "16:9": "2752x1536", "9:16": "1536x2752", "21:9": "3136x1344", "9:21": "1344x3136"}
	kontext = map[string]string{"1:1": "1024x1024", "4:3": "1184x880", "3:4": "880x1184", "3:2": "1248x832",
		"2:3": "832x1248", "16:9": "1392x752", "9:16": "752x1392", "2:1": "1456x720", "1:2": "720x1456",
		"21:9": "1568x672", "9:21": "672x1568"}
)
