package fal_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/hosted/hostedtest"
)

// inputs are the fields of fal-ai/flux-2-pro and its edits (fal.ai/models/fal-ai/flux-2-pro/edit/api), num_images of
// fal-ai/flux/dev, and aspect_ratio and resolution of xai/grok-imagine-image/v2.0/text-to-image. What a model does with
// others is its own affair; here they are refused, so that nothing is asked for in vain.
var inputs = []string{"prompt", "image_size", "image_urls", "seed", "safety_tolerance", "enable_safety_checker",
	"output_format", "sync_mode", "num_images", "aspect_ratio", "resolution",
	// background and mask_url of fal-ai/gpt-image-1.5/edit
	"background", "mask_url"}

// check returns the first field that does not serve, and the type of the error that the model would answer with.
func check(s hostedtest.Sent) (field, kind string) {
	for name := range s.Fields {
		if !slices.Contains(inputs, name) {
			return name, "extra_forbidden"
		}
	}
	edit := strings.HasSuffix(s.Path, "/edit")
	images, listed := s.Fields["image_urls"].([]any)
	n, several := s.Fields["num_images"].(float64)
	switch {
	case s.Fields["prompt"] == nil || s.Fields["prompt"] == "":
		return "prompt", "missing"
	case edit != listed || len(images) > 8 || slices.ContainsFunc(images, func(v any) bool {
		return !strings.HasPrefix(fmt.Sprint(v), "data:image/")
	}):
		return "image_urls", "value_error"
	case !slices.Contains([]any{nil, "png", "jpeg", "webp"}, s.Fields["output_format"]):
		return "output_format", "enum"
	case !slices.Contains([]any{nil, "auto", "opaque", "transparent"}, s.Fields["background"]):
		return "background", "enum"
	case s.Fields["mask_url"] != nil && (!edit || !strings.HasPrefix(fmt.Sprint(s.Fields["mask_url"]),
		"data:image/png;base64,")):
		return "mask_url", "value_error"
	case several && (n < 1 || n > 4 || n != float64(int(n))):
		return "num_images", "value_error"
	}
	z, err := imagegen.ParseSize(sizeOf(s.Fields))
	if err != nil || z.Width%16 != 0 || z.Height%16 != 0 || min(z.Width, z.Height) < 256 || z.Area() > 2048*2048 {
		return "image_size", "value_error"
	}
	return "", ""
}

// sizeOf is what comes out, written WxH: to the pixel, or the usual size of a ratio and a resolution.
func sizeOf(input map[string]any) string {
	if size, ok := input["image_size"].(map[string]any); ok && len(size) == 2 {
		return fmt.Sprintf("%vx%v", size["width"], size["height"])
	}
	ratio, _ := input["aspect_ratio"].(string)
	resolution, _ := input["resolution"].(string)
	if !slices.Contains([]string{"1k", "2k"}, resolution) || !slices.Contains(imagegen.Ratios()[1:],
		imagegen.Ratio(ratio)) {
		return ""
	}
	return imagegen.SizeFor(imagegen.Ratio(ratio), imagegen.Tier(strings.ToUpper(resolution))).String()
}

// look is the format and the background of what comes out.
func look(input map[string]any) string {
	q := url.Values{}
	for name, field := range map[string]string{"as": "output_format", "background": "background"} {
		if v, ok := input[field].(string); ok {
			q.Set(name, v)
		}
	}
	return "?" + q.Encode()
}
