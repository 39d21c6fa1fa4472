package engine_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

func called(m engine.Model, aliases ...string) engine.Model {
	m.Aliases = aliases
	return m
}

// Models tells the aliases; an alias is taken for no model where an interface does not say so, and names one model
// only.
func TestAliases(t *testing.T) {
	p := yieldImages(1, nil)
	m, n := offered("m", p, 1), offered("n", p, 1)
	h := start(t, p)
	h.is.NoErr(h.setModels(called(m, "gpt-image-1", "x"), n))
	infos, err := h.engine.Models(t.Context())
	h.is.NoErr(err)
	h.is.Equal(cmp.Diff([][]string{{"gpt-image-1", "x"}, nil}, [][]string{infos[0].Aliases, infos[1].Aliases}), "")
	infos[0].Aliases[0] = "changed"
	infos, _ = h.engine.Models(t.Context())
	h.is.Equal(infos[0].Aliases[0], "gpt-image-1") // a caller's changes are its own
	_, err = h.engine.As(alice).Generate(t.Context(), imagegen.GenerateRequest{Model: "x", Prompt: "a fox"})
	h.is.True(errors.Is(err, imagegen.ErrInvalidRequest))

	for name, models := range map[string][]engine.Model{
		"its own name":                 {called(m, "m")},
		"another's name":               {called(m, "n"), n},
		"another's name, retired":      {called(m, "n"), retired(n)},
		"another's alias":              {called(m, "x"), called(n, "x")},
		"twice":                        {called(m, "x", "x")},
		"no name":                      {called(m, "")},
		"what an identifier cannot be": {called(m, "a\x00")},
	} {
		t.Run(name, func(t *testing.T) {
			is.New(t).True(h.setModels(models...) != nil)
		})
	}
}

// A refusal names the field that is to blame.
func TestRefusedField(t *testing.T) {
	h := start(t, yieldImages(1, nil))
	model := h.listed()[0]
	for field, q := range map[string]imagegen.GenerateRequest{
		"model":   {Model: "unknown", Prompt: "a fox"},
		"prompt":  {Model: model, Prompt: " "},
		"n":       {Model: model, Prompt: "a fox", N: 5},
		"quality": {Model: model, Prompt: "a fox", Quality: "best"},
		"size":    {Model: model, Prompt: "a fox", Size: imagegen.Size{Width: 8000, Height: 16}},
		"image":   {Model: model, Prompt: "a fox", References: make([]imagegen.Reference, 17)},
	} {
		t.Run(field, func(t *testing.T) {
			_, err := h.engine.As(alice).Generate(t.Context(), q)
			e, ok := errors.AsType[*imagegen.Error](err)
			is := is.New(t)
			is.True(ok)
			is.Equal(e.Code, imagegen.CodeInvalidRequest)
			is.Equal(e.Field, field)
		})
	}
}

// A failure that the same request would meet again differs from one that would pass.
func TestLastingFailures(t *testing.T) {
	for class, lasting := range map[imagegen.Class]bool{imagegen.ClassRefused: true, imagegen.ClassInvalid: true,
		imagegen.ClassUnknown: false, imagegen.ClassUnavailable: false, imagegen.ClassRateLimited: false,
		imagegen.ClassBlocked: false} {
		t.Run(class.String(), func(t *testing.T) {
			h := start(t, yieldImages(0, &imagegen.ProviderError{Class: class}))
			_, err := h.engine.As(alice).Generate(t.Context(), imagegen.GenerateRequest{Model: h.listed()[0],
				Prompt: "a fox"})
			e, ok := errors.AsType[*imagegen.Error](err)
			h.is.True(ok)
			h.is.Equal(e.Code, imagegen.CodeGenerationFailed)
			h.is.Equal(e.Lasting, lasting)
		})
	}
}

// No provider can say that the owner cancelled: that is for the owner, and is counted as nobody's failure.
func TestNoProviderCancels(t *testing.T) {
	h := start(t, yieldImages(0, &imagegen.ProviderError{Class: imagegen.ClassCancelled}))
	_, err := h.generate(imagegen.GenerateRequest{})
	h.is.True(isCode(err, imagegen.ErrGenerationFailed))
	page, _, err := h.db.Generations(t.Context(), alice, imagegen.Query{Limit: 1})
	h.is.NoErr(err)
	h.is.Equal(page[0].Failure.Class, imagegen.ClassUnknown)
}
