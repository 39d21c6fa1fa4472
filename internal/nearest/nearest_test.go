package nearest_test

import (
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/internal/nearest"
)

func TestHint(t *testing.T) {
	known := []string{"addr", "data-dir", "base-url", "retain", "model", "models"}
	for word, want := range map[string]string{
		"data_dir":  `; did you mean "data-dir"?`,
		"adr":       `; did you mean "addr"?`,
		"retention": `; did you mean "retain"?`,
		"modles":    `; did you mean "models"?`,
		"colour":    "",
		"":          "",
	} {
		t.Run(word, func(t *testing.T) {
			is := is.New(t)
			is.Equal(nearest.Hint(word, known), want)
		})
	}
}

func TestHintOrAll(t *testing.T) {
	is := is.New(t)
	known := []string{"addr", "data-dir"}
	is.Equal(nearest.HintOrAll("adr", known), `; did you mean "addr"?`)
	is.Equal(nearest.HintOrAll("colour", known), "; there are: addr, data-dir")
}

// For the names that other services give a field, the hint is right, or there is none.
func TestField(t *testing.T) {
	native := []string{"reference_image", "mask", "model", "prompt", "size", "quality", "n", "output_format",
		"output_compression", "background", "seed", "async", "user", "response_format"}
	openai := []string{"image", "images", "mask", "model", "prompt", "n", "size", "quality", "response_format",
		"output_format", "output_compression", "background", "moderation", "style", "input_fidelity", "seed", "stream",
		"partial_images", "user", "safety_identifier"}
	tool := []string{"model", "n", "prompt", "quality", "references", "save_as", "size"}
	for name, want := range map[string][3]string{
		"aspect_ratio": {"size", "size", "size"}, "aspectRatio": {"size", "size", "size"},
		"image_size": {"size", "size", "size"}, "sizes": {"size", "size", "size"}, "promt": {"prompt", "prompt",
			"prompt"}, "qualty": {"quality", "quality", "quality"},
		"N": {"n", "n", "n"}, "num_images": {"n", "n", "n"}, "numberOfImages": {"n", "n", "n"},
		"batch_size": {"n", "n", "n"}, "quantity": {"n", "n", "n"}, "n_images": {"n", "n", "n"},
		"number": {"n", "n", "n"}, "reference": {"reference_image", "images", "references"},
		"reference_image": {"reference_image", "images",
			"references"},
		"image[0]": {"reference_image", "image", "references"}, "image_2": {"reference_image", "image", "references"},
		"input_image": {"reference_image", "images", "references"}, "reference_img": {"reference_image", "",
			"references"},
		"outputFormat": {"output_format", "output_format", ""}, "asnyc": {"async", "", ""},
		"steps": {}, "num_inference_steps": {}, "negative_prompt": {}, "guidance_scale": {}, "cfg_scale": {},
		"strength": {}, "sampler": {}, "scheduler": {}, "loras": {}, "style_preset": {}, "enable_safety_checker": {},
		"watermark": {}, "extra_body": {}, "mode": {}, "modality": {}, "task": {}, "tasks": {}, "nodes": {},
		"temperature": {}, "tools": {}, "messages": {}, "metadata": {}, "callback": {}, "webhook": {},
		"webhook_url": {}, "speed": {}, "safety_tolerance": {}, "prompt_upsampling": {}, "raw": {}, "acceleration": {},
		"sync_mode": {}, "clip_skip": {}, "denoising_strength": {}, "tiling": {}, "eta": {},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			is.Equal([3]string{nearest.Field(name, native), nearest.Field(name, openai), nearest.Field(name, tool)},
				want)
		})
	}
}
