package simulation_test

import (
	"math/rand/v2"
	"sync"
	"time"
)

// dice are random numbers that follow from a seed and a name. They are safe for concurrent use.
type dice struct {
	mu sync.Mutex
	r  *rand.Rand
}

func newDice(seed uint64, name string) *dice {
	h := uint64(14695981039346656037)
	for _, c := range []byte(name) { // FNV-1a: the same in every process
		h = (h ^ uint64(c)) * 1099511628211
	}
	return &dice{r: rand.New(rand.NewPCG(seed, h))}
}

// chance is true with a probability.
func (d *dice) chance(p float64) bool { return d.float() < p }

func (d *dice) float() float64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.r.Float64()
}

// below is from 0 to n-1.
func (d *dice) below(n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.r.IntN(n)
}

// between is a duration from a to b, the short ones more likely.
func (d *dice) between(a, b time.Duration) time.Duration {
	f := d.float()
	return a + time.Duration(f*f*float64(b-a))
}

func pick[T any](d *dice, of []T) T { return of[d.below(len(of))] }

// weighted picks an index with a probability in proportion to its weight.
func (d *dice) weighted(weights ...int) int {
	all := 0
	for _, w := range weights {
		all += w
	}
	at := d.below(all)
	for i, w := range weights {
		if at -= w; at < 0 {
			return i
		}
	}
	panic("unreachable: at is below the sum")
}
