package comfyui

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

const (
	step = 16 // edges are multiples of it, which suits every family of models
	// maxWorkflows is one for each number of reference images, 0 among them, and for all but 0 one with a mask.
	maxWorkflows = 2*imagegen.MaxReferences + 1
)

// Config describes a ComfyUI and what it runs. Only Workflows is required. http and private
// addresses are permitted.
type Config struct {
	// Workflows are JSON documents in API format with placeholders, as the package
	// documentation describes. For each number of reference images there can be one workflow,
	// and another one that takes a mask too, which needs the first. Required.
	Workflows [][]byte

	// BaseURL is where ComfyUI is. "": http://127.0.0.1:8188.
	BaseURL string

	// Name is the upstream's name, shown to callers. "": "comfyui".
	Name string

	// APIKey is sent to a proxy before ComfyUI: bare in the header KeyHeader or, if that is "",
	// as a bearer token. "": none.
	APIKey    imagegen.Secret
	KeyHeader string

	// BestEdge is the edge of the square that the model was trained for, from 256 to 2048 pixels. An explicit size
	// with less than half of that area is drawn with about that area and scaled down. 0: 1024.
	BestEdge int

	// Steps are what {{steps}} stands for, each up to 10,000, the most of a KSampler (Comfy-Org/ComfyUI, nodes.py).
	Steps provider.Steps
}

// New returns an error that says what is wrong with c, or with which workflow, counted from 1. It makes no request:
// Probe finds out whether ComfyUI has the nodes of the workflows.
func New(c Config) (*Provider, error) {
	c.BaseURL = cmp.Or(c.BaseURL, "http://127.0.0.1:8188")
	c.Name = cmp.Or(c.Name, "comfyui")
	c.BestEdge = cmp.Or(c.BestEdge, 1024)
	c.Steps = c.Steps.WithDefaults()
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("comfyui: %w", err)
	}
	workflows, err := parseAll(c.Workflows)
	if err != nil {
		return nil, fmt.Errorf("comfyui: %w", err)
	}
	client, err := upstream.New(upstream.Options{BaseURL: c.BaseURL, Key: c.APIKey, KeyHeader: c.KeyHeader,
		Private: true, Classify: classify})
	if err != nil {
		return nil, fmt.Errorf("comfyui: %w", err)
	}
	p := &Provider{config: c, workflows: workflows, client: client, canvas: upstream.Canvas{Step: step,
		BestEdge: c.BestEdge}}
	can := p.canvas.Capabilities()
	can.MaxSeed = math.MaxUint32
	can.Metadata = imagegen.MetadataStrip // SaveImage writes the workflow into each image
	can.Orientation = true                // LoadImage turns images upright (Comfy-Org/ComfyUI, nodes.py)
	for n := range imagegen.MaxReferences + 1 {
		if _, there := workflows[takes{references: n}]; there {
			can.MinReferences, can.MaxReferences = n, n
			_, can.Mask = workflows[takes{n, true}]
			p.can.Offers = append(p.can.Offers, can)
		}
	}
	p.can = p.can.WithDefaults()
	return p, nil
}

func (c Config) validate() error {
	const leastEdge, mostEdge = 256, 2048
	switch {
	case len(c.Workflows) == 0:
		return errors.New("a workflow is required")
	case c.BestEdge < leastEdge || c.BestEdge > mostEdge:
		return fmt.Errorf("the option BestEdge is %d; it can be from %d to %d", c.BestEdge, leastEdge, mostEdge)
	}
	return c.Steps.Validate(10_000)
}

// parseAll returns the workflows by what they take. Each is the only one for that, and for each that takes a mask
// there is one that takes as many references without.
func parseAll(raw [][]byte) (map[takes]workflow, error) {
	if len(raw) > maxWorkflows {
		return nil, fmt.Errorf("there are %d workflows; there can be %d, one for each number of reference images, and one with a mask", len(raw), maxWorkflows)
	}
	all := map[takes]workflow{}
	for i, text := range raw {
		w, err := parse(text)
		if err != nil {
			return nil, fmt.Errorf("workflow %d: %w", i+1, err)
		}
		if _, twice := all[w.takes]; twice {
			return nil, fmt.Errorf("workflow %d: another one takes %s, too", i+1, w.takes)
		}
		all[w.takes] = w
	}
	for t := range all {
		if _, there := all[takes{references: t.references}]; !there {
			return nil, fmt.Errorf("a workflow takes %s; give one that takes as many without a mask, for requests that send none", t)
		}
	}
	return all, nil
}
