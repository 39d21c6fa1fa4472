package sdwebui

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

const step = 8 // edges are multiples of it

// Config describes a web UI. The zero value describes one on this machine, with a checkpoint of the SDXL kind. http
// and private addresses are permitted.
type Config struct {
	// BaseURL is the address of the web UI. "": http://127.0.0.1:7860.
	BaseURL string

	// Name is the upstream's name, shown to callers. "": "sdwebui".
	Name string

	// User and Password are those of --api-auth. Either both are set or neither is.
	User     string
	Password imagegen.Secret

	// Checkpoint is the title or name of the checkpoint to draw with. "": the one that is loaded.
	Checkpoint string

	// BestEdge is the edge of the square that the checkpoint was trained for, from 256 to 2048
	// pixels: 512 for Stable Diffusion 1.5. 0: 1024.
	BestEdge int

	// Steps are the sampling steps for each quality, up to 150 as in the web UI.
	Steps provider.Steps

	// Guidance is the CFG scale, from 1 to 30 as in the web UI. 0: 7.
	Guidance float64

	// Sampler and Scheduler are named as in the web UI. "": its defaults.
	Sampler, Scheduler string

	// NegativePrompt is sent with every request.
	NegativePrompt string

	// Upscaler is what hires fix enlarges with. "": Latent. HiresDenoising is how much it then
	// draws anew: more than 0, up to 1. 0: 0.7.
	Upscaler       string
	HiresDenoising float64

	// ReferenceDenoising is how far a picture may depart from its reference: more than 0, up to 1. 0: 0.75.
	ReferenceDenoising float64

	// Input has further fields to send; they replace those that are otherwise sent under the same names. Examples are
	// styles, alwayson_scripts such as ControlNet's, and a prompt with a LoRA beside {{prompt}}. With a seed in it,
	// requests cannot ask for one. Its placeholders are those of package replicate, without {{format}}, {{background}}
	// and masks; references are in base64. Fields that decide on the size and the number of pictures, on references
	// and on masks cannot be set.
	Input map[string]any
}

// New returns an error that says what is wrong with c. It makes no request.
func New(c Config) (*Provider, error) {
	c = c.withDefaults()
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("sdwebui: %w", err)
	}
	extra, err := c.extra()
	if err != nil {
		return nil, fmt.Errorf("sdwebui: %w", err)
	}
	client, err := upstream.New(upstream.Options{BaseURL: c.BaseURL, Key: c.credentials(), KeyHeader: "Authorization",
		KeyPrefix: "Basic ", Private: true, Classify: classify})
	if err != nil {
		return nil, fmt.Errorf("sdwebui: %w", err)
	}
	p := &Provider{config: c, client: client, extra: extra, canvas: upstream.Canvas{Step: step, BestEdge: c.BestEdge},
		turn: make(chan struct{}, 1)}
	p.can = p.canvas.Capabilities()
	p.can.MaxReferences, p.can.Mask = 1, true
	p.can.Metadata = imagegen.MetadataStrip // the prompt and all settings stand in each image
	if _, fixed := c.Input["seed"]; !fixed {
		// as far as its own go (AUTOMATIC1111/stable-diffusion-webui, modules/processing.py, get_fixed_seed)
		p.can.MaxSeed = math.MaxUint32
	}
	p.can = p.can.WithDefaults()
	return p, nil
}

func (c Config) withDefaults() Config {
	c.BaseURL = cmp.Or(c.BaseURL, "http://127.0.0.1:7860")
	c.Name = cmp.Or(c.Name, "sdwebui")
	c.BestEdge = cmp.Or(c.BestEdge, 1024)
	c.Steps = c.Steps.WithDefaults()
	c.Guidance = cmp.Or(c.Guidance, 7)
	c.Upscaler = cmp.Or(c.Upscaler, "Latent")
	c.HiresDenoising = cmp.Or(c.HiresDenoising, 0.7)
	c.ReferenceDenoising = cmp.Or(c.ReferenceDenoising, 0.75)
	return c
}

func (c Config) validate() error {
	const leastEdge, mostEdge, mostGuidance = 256, 2048, 30
	switch {
	case c.BestEdge < leastEdge || c.BestEdge > mostEdge:
		return fmt.Errorf("the option BestEdge is %d; it can be from %d to %d", c.BestEdge, leastEdge, mostEdge)
	case !(c.Guidance >= 1 && c.Guidance <= mostGuidance):
		return fmt.Errorf("the option Guidance is %v; it can be from 1 to %d", c.Guidance, mostGuidance)
	case !(c.HiresDenoising > 0 && c.HiresDenoising <= 1):
		return fmt.Errorf("the option HiresDenoising is %v; it can be up to 1", c.HiresDenoising)
	case !(c.ReferenceDenoising > 0 && c.ReferenceDenoising <= 1):
		return fmt.Errorf("the option ReferenceDenoising is %v; it can be up to 1", c.ReferenceDenoising)
	case (c.User == "") != (c.Password == ""):
		return errors.New("the options User and Password belong together")
	case strings.Contains(c.User, ":"):
		return errors.New("the option User holds a colon")
	}
	return c.Steps.Validate(150)
}

// credentials are user name and password as basic authentication wants them.
func (c Config) credentials() imagegen.Secret {
	if c.User == "" {
		return ""
	}
	return imagegen.Secret(base64.StdEncoding.EncodeToString([]byte(c.User + ":" + c.Password.Reveal())))
}
