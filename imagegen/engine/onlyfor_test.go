package engine_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// Others neither see a model that is for some account types, nor can name it; a message does not give it away.
func TestModelForSome(t *testing.T) {
	h := start(t, yieldImages(1, nil), func(c *engine.Config) {
		some := c.Models[0]
		some.ID, some.OnlyFor = "school-1", []string{"EDU", "PRO"}
		c.Models = append(c.Models, some)
	})
	ctx := t.Context()
	school, zoe := h.sponsored(imagegen.KeyLimits{})
	common := h.cfg.Models[0].ID
	for u, sees := range map[imagegen.UserID]bool{alice: false, school.ID: true, zoe.ID: true} { // zoe as her school
		is := is.New(t)
		s := h.engine.As(u)
		infos, err := s.Models(ctx)
		is.NoErr(err)
		offers, err := s.Offers(ctx)
		is.NoErr(err)
		var names []string
		for i := range infos {
			is.Equal(infos[i].ID, offers[i].ID)
			names = append(names, infos[i].ID)
		}
		is.Equal(strings.Join(names, " ") == common+" school-1", sees)
		_, quoted := s.Quote(ctx, fox(imagegen.GenerateRequest{Model: "school-1"}))
		_, made := s.Generate(ctx, fox(imagegen.GenerateRequest{Model: "school-1"}))
		for _, err := range []error{quoted, made} {
			is.Equal(err == nil, sees)
			is.True(sees || errors.Is(err, imagegen.ErrInvalidRequest) &&
				strings.HasSuffix(err.Error(), `unknown model "school-1"; offered: `+common))
		}
	}
	infos, err := h.engine.Models(ctx) // nobody in particular
	h.is.NoErr(err)
	h.is.Equal(len(infos), 1)
}
