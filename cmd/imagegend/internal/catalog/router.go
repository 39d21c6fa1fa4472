package catalog

import (
	"cmp"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/router"
)

func routerKind(s source) kind {
	c := router.Config{Log: s.Log}
	var upstreams []string
	k := keys{
		"name":              text(&c.Name),
		"retries":           atLeast(0, &c.Retries),
		"backoff":           duration(&c.Backoff),
		"failure_threshold": count(&c.FailureThreshold),
		"open_for":          duration(&c.OpenFor),
		"members": each(func(n *yaml.Node) error {
			m, asked, err := s.member(n)
			c.Members = append(c.Members, m)
			upstreams = append(upstreams, asked...)
			return err
		}),
	}
	return kind{keys: k, make: func() (imagegen.Provider, error) { return router.New(c) },
		members: func() []string { return upstreams }}
}

// member reads a member, and tells what upstreams it asks: under its name, for the router finds it by that.
func (s source) member(n *yaml.Node) (m router.Member, upstreams []string, err error) {
	var asked []string
	err = fields(n, keys{
		"name":           text(&m.Name),
		"weight":         atLeast(0, &m.Weight),
		"max_concurrent": count(&m.MaxConcurrent),
		"provider":       func(n *yaml.Node) (err error) { m.Provider, asked, err = s.provider(n); return err },
	})
	if err == nil && m.Provider == nil {
		err = errAt(n, "a member needs a provider, such as provider: {type: openai, key_env: OPENAI_API_KEY}")
	}
	if err != nil {
		return m, nil, err
	}
	if len(asked) == 1 { // several are a router's, which tells them apart itself
		m.Upstream = asked[0]
	}
	for _, a := range asked {
		upstreams = append(upstreams, fmt.Sprintf("router member %s: %s", cmp.Or(m.Name, m.Provider.Name()), a))
	}
	return m, upstreams, nil
}
