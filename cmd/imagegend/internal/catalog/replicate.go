package catalog

import (
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/replicate"
)

func replicateKind(s source) kind {
	var c replicate.Config
	k := keys{
		"name":           text(&c.Name),
		"base_url":       text(&c.BaseURL),
		"model":          text(&c.Model),
		"deployment":     text(&c.Deployment),
		"input":          input(&c.Input),
		"sizes":          sizes(&c.Sizes),
		"size_rules":     sizeRules(&c.SizeRules),
		"tier_names":     tiers(&c.TierNames, tierName),
		"max_references": references(func(v int) { c.MaxReferences = v }),
		"max_per_call":   count(&c.MaxPerCall),
		"max_prompt":     maxPrompt(&c.MaxPrompt),
		"poll_interval":  duration(&c.PollInterval),
		"image_hosts":    texts(&c.ImageHosts),
		"private":        yes(&c.Private),
	}
	s.secret(k, "key", &c.APIKey)
	return kind{keys: k, make: func() (imagegen.Provider, error) {
		if err := needKey(c.APIKey, c.Private); err != nil {
			return nil, err
		}
		return replicate.New(c)
	}}
}
