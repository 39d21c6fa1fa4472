package engine_test

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

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

// A key limited to models, and a member who is, see these alone and can name no other. Both limits hold at once.
func TestLimitedToModels(t *testing.T) {
	h := start(t, yieldImages(1, nil), func(c *engine.Config) {
		for _, id := range []string{"second", "third"} {
			m := c.Models[0]
			m.ID = id
			c.Models = append(c.Models, m)
		}
	})
	ctx, common := t.Context(), h.cfg.Models[0].ID
	class := h.class(5, imagegen.KeyLimits{Models: []string{"second", "third"}})
	h.is.NoErr(h.db.CreateUser(ctx, imagegen.User{ID: bob, Name: "bob"}))
	h.is.NoErr(h.engine.SetSponsor(ctx, bob, class.school.ID, imagegen.KeyLimits{Models: []string{"second", "third"}}))
	service := func(u imagegen.UserID, models ...string) *engine.Session {
		raw, _, err := h.engine.Accounts().MintLimitedKey(ctx, u, "", time.Time{}, imagegen.KeyLimits{Models: models})
		h.is.NoErr(err)
		s, err := h.engine.Authenticate(ctx, raw.Reveal())
		h.is.NoErr(err)
		return s
	}
	for _, c := range []struct {
		s    *engine.Session
		sees []string
	}{
		{service(alice), []string{common, "second", "third"}},
		{service(alice, "third", "gone", common), []string{common, "third"}},
		{service(alice, "gone"), nil},
		{h.engine.As(bob), []string{"second", "third"}},
		{service(bob, common, "third"), []string{"third"}},
		{class.pupil("zoe"), []string{"second", "third"}}, // before she is a member, and then
		{class.pupil("zoe"), []string{"second", "third"}},
	} {
		infos, err := c.s.Models(ctx)
		h.is.NoErr(err)
		var names []string
		for _, m := range infos {
			names = append(names, m.ID)
		}
		h.is.Equal(names, c.sees)
		for _, id := range []string{common, "second", "third"} {
			_, quoted := c.s.Quote(ctx, fox(imagegen.GenerateRequest{Model: id}))
			_, made := c.s.Generate(ctx, fox(imagegen.GenerateRequest{Model: id}))
			for _, err := range []error{quoted, made} {
				sees := slices.Contains(names, id)
				h.is.Equal(err == nil, sees)
				h.is.True(sees || errors.Is(err, imagegen.ErrInvalidRequest) && strings.HasSuffix(err.Error(),
					"offered: "+cmp.Or(strings.Join(names, ", "), "none at present")))
			}
		}
	}
}
