package router

import (
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// Health returns for each member, in the order of the configuration, whether it gets requests now, and why not. It
// calls no upstream. The members of a member that is itself a router are not listed: names are only those of this
// router, and such a member says in its errors which of its own are at fault. A member whose places are all taken is
// healthy.
func (p *Provider) Health() []imagegen.MemberHealth {
	all := make([]imagegen.MemberHealth, len(p.members))
	for i, m := range p.members {
		all[i] = m.health()
	}
	return all
}

func (m *member) health() imagegen.MemberHealth {
	ill := m.unavailable()
	switch {
	case ill != nil:
		return imagegen.MemberHealth{Name: m.name, Detail: ill.Message + "; again in " +
			max(ill.RetryAfter, time.Second).Round(time.Second).String()}
	case !m.breaker.IsClosed():
		return imagegen.MemberHealth{Name: m.name, Detail: "one request is to find out whether it works after " +
			errorText(m.lastError())}
	}
	return imagegen.MemberHealth{Name: m.name, Healthy: true}
}
