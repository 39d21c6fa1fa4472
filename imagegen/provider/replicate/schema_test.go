package replicate_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/hosted/hostedtest"
)

// known are the inputs of black-forest-labs/flux-2-pro (replicate.com/black-forest-labs/flux-2-pro/api/schema), and
// num_outputs of flux-schnell. Of the request's own fields Replicate refuses those that it does not know
// (replicate.com/changelog/2024-05-01-improved-validation-for-api-prediction-payloads), of a model's inputs it drops
// them (replicate/cog, pull request 2943); here these are refused as well, so that nothing is asked for in vain.
var known = []string{"prompt", "aspect_ratio", "resolution", "width", "height", "input_images", "num_outputs", "seed",
	"output_format", "output_quality", "safety_tolerance",
	// of inpainting, such as stability-ai/stable-diffusion-inpainting: black is kept, white is drawn anew
	"mask"}

func check(s hostedtest.Sent, version string) error {
	for name := range s.Fields {
		if !slices.Contains(known, name) {
			return fmt.Errorf("additional property %s is not allowed", name)
		}
	}
	images, listed := s.Fields["input_images"].([]any)
	n, several := s.Fields["num_outputs"].(float64)
	switch {
	case s.Fields["prompt"] == nil || s.Fields["prompt"] == "":
		return fmt.Errorf("prompt is required")
	case version != map[string]string{"/v1/predictions": "5c7d5dc6"}[s.Path]:
		return fmt.Errorf("version is %q", version)
	case listed && (len(images) < 1 || len(images) > 8) || slices.ContainsFunc(images, func(v any) bool {
		return !strings.HasPrefix(fmt.Sprint(v), "data:image/")
	}):
		return fmt.Errorf("input_images: Does not match format 'uri'")
	case !slices.Contains([]any{nil, "png", "jpg", "webp"}, s.Fields["output_format"]):
		return fmt.Errorf("output_format must be one of webp, jpg, png")
	case s.Fields["mask"] != nil && !strings.HasPrefix(fmt.Sprint(s.Fields["mask"]), "data:image/png;base64,"):
		return fmt.Errorf("mask: Does not match format 'uri'")
	case several && (n < 1 || n > 4 || n != float64(int(n))):
		return fmt.Errorf("num_outputs is %v", n)
	}
	z, err := imagegen.ParseSize(sizeOf(s.Fields))
	if err != nil || z.Width%16 != 0 || z.Height%16 != 0 || min(z.Width, z.Height) < 256 || z.Area() > 2048*2048 {
		return fmt.Errorf("width and height: Must be from 256 to 2048")
	}
	return nil
}

// sizeOf is what comes out, written WxH: to the pixel, or the usual size of a ratio and a resolution.
func sizeOf(input map[string]any) string {
	ratio, _ := input["aspect_ratio"].(string)
	if ratio == "custom" {
		return fmt.Sprintf("%vx%v", input["width"], input["height"])
	}
	tier, known := map[any]imagegen.Tier{"1 MP": imagegen.Tier1K, "4 MP": imagegen.Tier2K}[input["resolution"]]
	if !known || !slices.Contains(imagegen.Ratios()[1:], imagegen.Ratio(ratio)) {
		return ""
	}
	return imagegen.SizeFor(imagegen.Ratio(ratio), tier).String()
}
