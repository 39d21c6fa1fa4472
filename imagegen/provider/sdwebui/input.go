package sdwebui

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/template"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// kept are the fields that Input cannot set: with other values, the images would not be what was asked for. With
// save_images, a grid of all pictures comes before them (modules/processing.py, process_images_inner).
var kept = []string{"width", "height", "batch_size", "n_iter", "force_task_id", "init_images", "resize_mode",
	"enable_hr", "hr_resize_x", "hr_resize_y", "hr_scale", "hr_additional_modules", "send_images",
	"do_not_save_samples", "save_images", "firstphase_width", "firstphase_height", "mask", "mask_blur",
	"inpainting_fill", "inpaint_full_res", "inpainting_mask_invert"}

// extra reads Input. A prompt in it must contain the placeholder of the request's prompt.
func (c Config) extra() (*template.Filler, error) {
	for name, value := range c.Input {
		if slices.Contains(kept, name) {
			return nil, fmt.Errorf("the option Input sets %s; the images would then not be what is asked for", name)
		}
		if text, _ := value.(string); name == "prompt" && !strings.Contains(text, template.Prompt) {
			return nil, fmt.Errorf("the option Input sets prompt to a text without %s", template.Prompt)
		}
	}
	return template.NewPart(c.Input)
}

// settings are those of the web UI that hold for one request; checkpoint is one of them.
const settings, checkpoint = "override_settings", "sd_model_checkpoint"

// addInput adds the fields of the configured Input, which replace those of the same name. With a setting of its own
// beside it, the configured checkpoint is still the one that draws.
func (p *Provider) addInput(fields map[string]any, r imagegen.ProviderRequest, size imagegen.Size,
	d *upstream.Document) {
	own := p.extra.Fill(r, size, d.Base64)
	if others, ok := own[settings].(map[string]any); ok && p.config.Checkpoint != "" {
		if _, set := others[checkpoint]; !set {
			others[checkpoint] = p.config.Checkpoint
		}
	}
	maps.Copy(fields, own)
}
