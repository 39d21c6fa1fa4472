package catalog

import (
	"go.yaml.in/yaml/v3"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
)

// sizeRules reads which sizes a model takes.
func sizeRules(to *imagegen.SizeRules) setter {
	return func(n *yaml.Node) error {
		err := fields(n, sizeRuleKeys(to))
		if err == nil && (to.Step == 0 || to.MaxEdge == 0 || to.MaxPixels == 0 || to.MaxAspect == 0) {
			err = errAt(n, "step, max_edge, max_pixels and max_aspect are required")
		}
		return err
	}
}

func sizeRuleKeys(to *imagegen.SizeRules) keys {
	return keys{"step": count(&to.Step), "min_edge": count(&to.MinEdge), "max_edge": count(&to.MaxEdge),
		"min_pixels": count(&to.MinPixels), "max_pixels": count(&to.MaxPixels), "max_aspect": number(&to.MaxAspect)}
}

// steps reads the sampling steps for each quality.
func steps(to *provider.Steps) setter {
	return func(n *yaml.Node) error {
		return fields(n, keys{"low": count(&to.Low), "medium": count(&to.Medium), "high": count(&to.High)})
	}
}
