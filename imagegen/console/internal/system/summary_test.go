package system

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

// Those who spent most are the same whether rows come user by user or in any order; with the former, no more sums are
// held than are shown, and those of one user.
func TestConsumers(t *testing.T) {
	is := is.New(t)
	var rows []sums
	for u := range 50 {
		for k := range 3 {
			of := subject{User: imagegen.UserID(fmt.Sprint("user ", u)), Key: imagegen.KeyID(fmt.Sprint(k))}
			rows = append(rows, sums{of,
				imagegen.UsageSums{Spent: imagegen.Credits(rand.IntN(20)), Charged: imagegen.Credits(rand.IntN(3))}})
		}
	}
	walks, gathers := &consumers{walks: true}, &consumers{}
	for _, r := range rows {
		for range 2 {
			walks.count(r.subject, r.UsageSums)
		}
		is.True(len(walks.sums) <= 3 && len(walks.best) <= maxConsumers)
	}
	rand.Shuffle(len(rows), func(a, b int) { rows[a], rows[b] = rows[b], rows[a] })
	for range 2 {
		for _, r := range rows {
			gathers.count(r.subject, r.UsageSums)
		}
	}
	is.Equal(cmp.Diff(gathers.top(), walks.top(), cmp.AllowUnexported(sums{})), "")
	is.Equal(len(walks.top()), maxConsumers)
}
