package sdwebui

import (
	"maps"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// beginAsItWas is the inpainting_fill that begins, within the mask, with the picture as it is. Other values begin
// with its colours or with noise.
const beginAsItWas = 1

const (
	randomSeed    = -1
	cropAndResize = 1 // the other modes distort a reference, or make up its margins
)

// request returns where to send a request for r, and its body: fields of txt2img or img2img (modules/api/models.py and
// modules/processing.py of AUTOMATIC1111/stable-diffusion-webui). mask is r.Mask in black and white, nil without one;
// taskID is that by which interrupt finds the task.
func (p *Provider) request(r imagegen.ProviderRequest, mask *imagegen.ProviderReference,
	taskID string) (path string, body *upstream.Body, err error) {
	size, err := p.canvas.Size(r)
	if err != nil {
		return "", nil, err
	}
	c := p.config
	fields := map[string]any{"prompt": r.Prompt, "negative_prompt": c.NegativePrompt, "width": size.Width,
		"height": size.Height, "batch_size": r.N, "n_iter": 1, "steps": c.Steps.Of(r.Quality), "cfg_scale": c.Guidance,
		"seed": randomSeed, "force_task_id": taskID}
	if r.Options.Seed != nil {
		fields["seed"] = *r.Options.Seed // of the first picture; each has the next (modules/processing.py, all_seeds)
	}
	for name, value := range map[string]string{"sampler_name": c.Sampler, "scheduler": c.Scheduler} {
		if value != "" {
			fields[name] = value
		}
	}
	if c.Checkpoint != "" {
		fields[settings] = map[string]any{checkpoint: c.Checkpoint}
	}
	if p.canvas.Exceeds(size) {
		fields["batch_size"], fields["n_iter"] = 1, r.N // several large ones at once rarely fit into a card's memory
	}
	var d upstream.Document
	path = "/sdapi/v1/txt2img"
	if len(r.References) > 0 {
		path = "/sdapi/v1/img2img"
		maps.Copy(fields, map[string]any{"init_images": []string{d.Base64(r.References[0])},
			"resize_mode": cropAndResize, "denoising_strength": c.ReferenceDenoising})
		if mask != nil { // only what is white in it is drawn anew
			maps.Copy(fields, map[string]any{"mask": d.Base64(*mask), "mask_blur": 0, "inpainting_fill": beginAsItWas,
				"inpaint_full_res": false, "inpainting_mask_invert": 0})
		}
	} else if p.canvas.Exceeds(size) { // hires fix first draws a smaller picture, and enlarges it
		first := p.canvas.Like(size)
		maps.Copy(fields, map[string]any{"width": first.Width, "height": first.Height, "enable_hr": true,
			"hr_resize_x": size.Width, "hr_resize_y": size.Height, "hr_upscaler": c.Upscaler,
			"hr_additional_modules": []string{"Use same choices"}, "denoising_strength": c.HiresDenoising})
	}
	p.addInput(fields, r, size, &d)
	body, err = d.Body(fields)
	return path, body, err
}
