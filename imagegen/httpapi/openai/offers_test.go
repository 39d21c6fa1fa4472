package openai_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/httpapi/openai"
)

// A model whose price cannot be had disturbs no call of another one, nor the list.
func TestPriceOfAnotherModel(t *testing.T) {
	s := serve(t, openai.Options{}, func(c *engine.Config) {
		other := c.Models[0]
		other.ID = "other"
		other.Price = func(context.Context, engine.Order) (imagegen.Credits, error) {
			t.Error("nobody asked for this model")
			return 0, errors.New("the table of tenants is away")
		}
		c.Models = append(c.Models, other)
	})
	for range 2 {
		a := s.post(generations, fox(`,"response_format":"url"`), "Idempotency-Key", "k")
		s.is.Equal(a.StatusCode, http.StatusOK)
	}
	s.is.Equal(s.do(http.MethodGet, "/v1/models", nil).StatusCode, http.StatusOK)
}
