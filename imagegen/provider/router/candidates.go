package router

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// candidates returns the members that can do r, in the order in which they are asked: those
// with a weight first, and within each group those that make exactly the wanted size.
func (p *Provider) candidates(r imagegen.ProviderRequest) []*member {
	able := slices.DeleteFunc(slices.Clone(p.members), func(m *member) bool {
		return imagegen.CheckRequest(m.provider, r) != nil
	})
	slices.SortStableFunc(able, func(a, b *member) int {
		return cmp.Or(cmp.Compare(a.rank(r), b.rank(r)), cmp.Compare(a.draw(r.Key), b.draw(r.Key)))
	})
	return able
}

// rank is what candidates are sorted by, before the draw: the lower one is asked first.
func (m *member) rank(r imagegen.ProviderRequest) (rank int) {
	if m.weight == 0 {
		rank += 2
	}
	if !m.can.MakesExactSize(r) {
		rank++
	}
	return rank
}

// draw is a random number that depends on the key and the member. The lowest one is asked first. Over many keys it is
// exponentially distributed, with the weight as its rate: so each member has the lowest draw in proportion to its
// weight. Without a weight it is infinite.
func (m *member) draw(key string) float64 {
	if m.weight == 0 {
		return math.Inf(1)
	}
	hash := sha256.Sum256([]byte(key + "\x00" + m.name))
	even := (float64(binary.BigEndian.Uint64(hash[:])>>11) + 0.5) / (1 << 53) // between 0 and 1
	return -math.Log(even) / float64(m.weight)
}

// acquire takes a place at the first candidate that is available and has one. It waits while some are available but
// none has a place. It returns an *allFailed if no candidate is available, or the context's cause.
func (p *Provider) acquire(ctx context.Context, line []*member) (permit, error) {
	for {
		freed := p.freed.next() // before the attempt, so that nothing is missed
		if ctx.Err() != nil {
			return permit{}, context.Cause(ctx)
		}
		ill := &allFailed{}
		for _, m := range line {
			v, err := m.acquire()
			if err == nil {
				return v, nil
			}
			if !errors.Is(err, errFull) {
				ill.reasons = append(ill.reasons, err)
			}
		}
		if len(ill.reasons) == len(line) {
			return permit{}, ill
		}
		pause(ctx, freed, ill.soonest())
	}
}

// pause waits until a place was freed, until a member may be available again, or until ctx ends. recovery is the time
// until a member may be; 0: it is not known.
func pause(ctx context.Context, freed <-chan struct{}, recovery time.Duration) {
	var recovered <-chan time.Time
	if recovery > 0 {
		recovered = time.After(recovery)
	}
	select {
	case <-freed:
	case <-recovered:
	case <-ctx.Done():
	}
}

// broadcast wakes all who wait for it. The zero value is ready for use, and it is safe for concurrent use.
type broadcast struct {
	mu sync.Mutex
	ch chan struct{}
}

// next returns a channel that is closed by the next wake.
func (g *broadcast) next() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ch == nil {
		g.ch = make(chan struct{})
	}
	return g.ch
}

func (g *broadcast) wake() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ch != nil {
		close(g.ch)
		g.ch = nil
	}
}
