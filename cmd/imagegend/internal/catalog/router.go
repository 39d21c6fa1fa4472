package catalog

import (
	"go.yaml.in/yaml/v3"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/router"
)

func routerKind(s source) kind {
	c := router.Config{Log: s.Log}
	k := keys{
		"name":              text(&c.Name),
		"retries":           atLeast(0, &c.Retries),
		"backoff":           duration(&c.Backoff),
		"failure_threshold": count(&c.FailureThreshold),
		"open_for":          duration(&c.OpenFor),
		"members": each(func(n *yaml.Node) error {
			m, err := s.member(n)
			c.Members = append(c.Members, m)
			return err
		}),
	}
	return kind{k, func() (imagegen.Provider, error) { return router.New(c) }}
}

func (s source) member(n *yaml.Node) (router.Member, error) {
	var m router.Member
	err := fields(n, keys{
		"name":           text(&m.Name),
		"weight":         atLeast(0, &m.Weight),
		"max_concurrent": count(&m.MaxConcurrent),
		"provider":       func(n *yaml.Node) (err error) { m.Provider, err = s.provider(n); return err },
	})
	if err == nil && m.Provider == nil {
		err = errAt(n, "a member needs a provider, such as provider: {type: openai, key_env: OPENAI_API_KEY}")
	}
	return m, err
}
