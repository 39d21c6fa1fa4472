package router

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"sync"

	"github.com/failsafe-go/failsafe-go/retrypolicy"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
)

// Provider shares requests among its members. It is safe for concurrent use.
type Provider struct {
	name         string
	members      []*member
	capabilities imagegen.Capabilities
	retry        retrypolicy.RetryPolicy[any]
	freed        *broadcast // wakes waiting requests whenever a member has ended one
	log          *slog.Logger
}

var (
	_ imagegen.Provider           = (*Provider)(nil)
	_ imagegen.Checker            = (*Provider)(nil)
	_ imagegen.ConcurrencyLimiter = (*Provider)(nil)
	_ imagegen.HealthReporter     = (*Provider)(nil)
	_ provider.Prober             = (*Provider)(nil)
)

// MaxConcurrent is how many requests all members together work on at once; 0 if one has
// no limit.
func (p *Provider) MaxConcurrent() (most int) {
	for _, m := range p.members {
		if m.atOnce == 0 {
			return 0
		}
		most += m.atOnce
	}
	return most
}

// Name is the configured name.
func (p *Provider) Name() string { return p.name }

// Capabilities are those of all members together. Not every combination of them is possible;
// Check refuses those that are not.
func (p *Provider) Capabilities() imagegen.Capabilities { return p.capabilities }

// Generate has the members make the images, as the package documentation describes. An error of
// a member is wrapped in one that names the member.
func (p *Provider) Generate(ctx context.Context, r imagegen.ProviderRequest) iter.Seq2[imagegen.ProviderImage, error] {
	return func(yield func(imagegen.ProviderImage, error) bool) {
		g := generation{router: p, rest: r, jobs: &jobs{save: r.SaveJob, open: r.Job != nil}, yield: yield}
		if err := g.run(ctx); err != nil {
			yield(imagegen.ProviderImage{}, err)
		}
	}
}

// Probe asks all members that are a [provider.Prober] at once whether their upstreams answer
// and accept the key. It costs nothing. The error names each member with a problem; it is
// [provider.ErrUnconfirmed] only if no member has a worse problem.
func (p *Provider) Probe(ctx context.Context) error {
	errs := make([]error, len(p.members))
	var probes sync.WaitGroup
	for i, m := range p.members {
		prober, ok := m.provider.(provider.Prober)
		if !ok {
			continue
		}
		probes.Go(func() {
			if err := prober.Probe(ctx); err != nil {
				errs[i] = fmt.Errorf("router: member %q: %w", m.name, err)
			}
		})
	}
	probes.Wait()
	faults := slices.DeleteFunc(slices.Clone(errs), func(err error) bool {
		return errors.Is(err, provider.ErrUnconfirmed)
	})
	return cmp.Or(errors.Join(faults...), errors.Join(errs...))
}

// member returns the member of that name; nil if there is none.
func (p *Provider) member(name string) *member {
	i := slices.IndexFunc(p.members, func(m *member) bool { return m.name == name })
	if i < 0 {
		return nil
	}
	return p.members[i]
}
