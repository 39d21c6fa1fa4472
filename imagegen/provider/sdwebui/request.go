package sdwebui

import (
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// parameters are the fields of a request to txt2img or img2img that are used here (modules/api/models.py and
// modules/processing.py of AUTOMATIC1111/stable-diffusion-webui).
type parameters struct {
	Prompt         string  `json:"prompt"`
	NegativePrompt string  `json:"negative_prompt"`
	Width          int     `json:"width"`
	Height         int     `json:"height"`
	BatchSize      int     `json:"batch_size"` // pictures drawn at once
	Batches        int     `json:"n_iter"`     // batches drawn one after the other
	Steps          int     `json:"steps"`
	Guidance       float64 `json:"cfg_scale"`
	// of the first picture; each has the next (modules/processing.py, all_seeds)
	Seed      int64             `json:"seed"`
	Sampler   string            `json:"sampler_name,omitempty"`
	Scheduler string            `json:"scheduler,omitempty"`
	Denoising float64           `json:"denoising_strength,omitempty"`
	TaskID    string            `json:"force_task_id"`
	Settings  map[string]string `json:"override_settings,omitempty"`

	*hires     // of txt2img; nil: the picture is drawn at once
	*reference // of img2img; nil: txt2img
}

// hires are the fields of hires fix. It first draws a picture of parameters' width and height,
// then enlarges it to its own.
type hires struct {
	Enable   bool     `json:"enable_hr"`
	Width    int      `json:"hr_resize_x"`
	Height   int      `json:"hr_resize_y"`
	Upscaler string   `json:"hr_upscaler"`
	Modules  []string `json:"hr_additional_modules"`
}

// reference are the fields of img2img for the picture that it begins with.
type reference struct {
	Images     []string `json:"init_images"` // one, in base64
	ResizeMode int      `json:"resize_mode"`

	*inpainting // nil: no mask
}

// inpainting are the fields of img2img for a mask: only what is white in it is drawn anew.
type inpainting struct {
	Mask      string `json:"mask"`
	Blur      int    `json:"mask_blur"`
	Fill      int    `json:"inpainting_fill"`
	OnlyThere bool   `json:"inpaint_full_res"`
	Invert    int    `json:"inpainting_mask_invert"`
}

// beginAsItWas is the inpainting_fill that begins, within the mask, with the picture as it is. Other values begin
// with its colours or with noise.
const beginAsItWas = 1

const (
	randomSeed    = -1
	cropAndResize = 1 // the other modes distort a reference, or make up its margins
)

// request returns where to send a request for r, and its body. mask is r.Mask in black and white, nil without one;
// taskID is that by which interrupt finds the task.
func (p *Provider) request(r imagegen.ProviderRequest, mask *imagegen.ProviderReference,
	taskID string) (path string, body *upstream.Body, err error) {
	size, err := p.canvas.Size(r)
	if err != nil {
		return "", nil, err
	}
	c := p.config
	q := parameters{Prompt: r.Prompt, NegativePrompt: c.NegativePrompt, Width: size.Width, Height: size.Height,
		BatchSize: r.N, Batches: 1, Steps: c.Steps.Of(r.Quality), Guidance: c.Guidance, Seed: randomSeed,
		Sampler: c.Sampler, Scheduler: c.Scheduler, TaskID: taskID}
	if r.Options.Seed != nil {
		q.Seed = *r.Options.Seed
	}
	if c.Checkpoint != "" {
		q.Settings = map[string]string{"sd_model_checkpoint": c.Checkpoint}
	}
	if p.canvas.Exceeds(size) {
		q.BatchSize, q.Batches = 1, r.N // several large ones at once rarely fit into a card's memory
	}
	var d upstream.Document
	path = "/sdapi/v1/txt2img"
	if len(r.References) > 0 {
		path = "/sdapi/v1/img2img"
		q.Denoising = c.ReferenceDenoising
		q.reference = &reference{Images: []string{d.Base64(r.References[0])}, ResizeMode: cropAndResize}
		if mask != nil {
			q.inpainting = &inpainting{Mask: d.Base64(*mask), Fill: beginAsItWas}
		}
	} else if p.canvas.Exceeds(size) {
		q.enlarge(c, size, p.canvas.Like(size))
	}
	var all any = q
	if len(c.Input) > 0 {
		if all, err = q.with(p.extra, r, size, &d); err != nil {
			return "", nil, err
		}
	}
	body, err = d.Body(all)
	return path, body, err
}

// enlarge has hires fix draw a picture of the size first and enlarge it to full.
func (q *parameters) enlarge(c Config, full, first imagegen.Size) {
	q.Width, q.Height = first.Width, first.Height
	q.Denoising = c.HiresDenoising
	q.hires = &hires{Enable: true, Width: full.Width, Height: full.Height, Upscaler: c.Upscaler,
		Modules: []string{"Use same choices"}}
}
