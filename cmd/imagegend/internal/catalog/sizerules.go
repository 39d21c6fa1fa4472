package catalog

import "go.yaml.in/yaml/v3"

// sizeRules say which sizes a model takes. Each provider has a type of its own with these fields.
type sizeRules struct {
	Step                 int
	MinEdge, MaxEdge     int
	MinPixels, MaxPixels int
	MaxAspect            float64
}

func (r *sizeRules) keys() keys {
	return keys{
		"step":       count(&r.Step),
		"min_edge":   count(&r.MinEdge),
		"max_edge":   count(&r.MaxEdge),
		"min_pixels": count(&r.MinPixels),
		"max_pixels": count(&r.MaxPixels),
		"max_aspect": number(&r.MaxAspect),
	}
}

func (r *sizeRules) read(n *yaml.Node) error {
	err := fields(n, r.keys())
	if err == nil && (r.Step == 0 || r.MaxEdge == 0 || r.MaxPixels == 0 || r.MaxAspect == 0) {
		err = errAt(n, "step, max_edge, max_pixels and max_aspect are required")
	}
	return err
}

// steps are the sampling steps for each quality. Each provider has a type of its own with these
// fields.
type steps struct {
	Low, Medium, High int
}

func (s *steps) read(n *yaml.Node) error {
	return fields(n, keys{"low": count(&s.Low), "medium": count(&s.Medium), "high": count(&s.High)})
}
