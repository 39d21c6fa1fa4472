package share_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/internal/share"
)

// No user holds more than a share, and all together hold no more than there is.
func TestShares(t *testing.T) {
	is := is.New(t)
	s := share.New[string](3, 5)
	is.True(s.Take("a", 2))
	is.True(!s.Take("a", 2)) // beyond the share; what is held stays as it is
	is.True(s.Take("a", 1))
	is.True(!s.Take("b", 3)) // beyond all
	is.True(s.Take("b", 2))
	s.Give("a", 3)
	is.True(s.Take("b", 1))
	is.True(s.Take("c", 2))
	is.True(!s.Take("c", 1))
}

func TestSharesAtOnce(t *testing.T) {
	is := is.New(t)
	s := share.New[int](10, 25)
	var held, most atomic.Int64
	var wg sync.WaitGroup
	for n := range 100 {
		wg.Go(func() {
			for range 100 {
				if k := n % 4; s.Take(k, 1) {
					most.Store(max(most.Load(), held.Add(1)))
					held.Add(-1)
					s.Give(k, 1)
				}
			}
		})
	}
	wg.Wait()
	is.True(most.Load() <= 25)
	is.True(s.Take(0, 10) && s.Take(1, 10) && s.Take(2, 5)) // all was given back
}
