package console_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

// A person sees the lines that can fit their requests, in the order in which they count.
func TestPrices(t *testing.T) {
	s := open(t)
	alice := s.signedIn("alice")
	s.is.True(alice.get("credits").has(`href="/console/prices"`))
	const caption = "What one image of fake-1 costs</caption>"
	a := alice.get("prices")
	s.is.Equal(a.StatusCode, http.StatusOK)
	s.is.Equal(cmp.Diff([]string{"Any request | 1 | 2 | 4 | –"}, a.table(caption)), "")

	m := imagegentest.Priced()
	m.Prices = append([]imagegen.Price{{AccountType: "PRO", Credits: imagegen.EveryTier(1)}}, m.Prices...)
	s.is.NoErr(s.SetModels(t.Context(), []engine.Model{m}))
	s.is.Equal(cmp.Diff([]string{"quality low | 1 | – | – | + 1", "with a mask | 7 | – | – | + 1",
		"quality high, from 2 reference images | 9 | 11 | – | –", "quality high | 5 | 5 | 5 | + 1",
		"Any request | 2 | 3 | 6 | + 1"}, alice.get("prices").table(caption)), "")

	m.Prices = nil
	m.Price = func(_ context.Context, o engine.Order) (imagegen.Credits, error) {
		return imagegen.Credits(1 + o.References), nil
	}
	s.is.NoErr(s.SetModels(t.Context(), []engine.Model{m}))
	a = alice.get("prices")
	s.is.Equal(cmp.Diff([]string{"Any request | 1 | 1 | 1 | it depends"}, a.table(caption)), "")
	s.is.True(a.has("The price depends on the request."))
}
