package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

// options are fields of a generation that stand there only when they were asked for.
type options struct {
	Format      string `json:"output_format"`
	Compression *int   `json:"output_compression"`
	Background  string `json:"background"`
	Seed        *int64 `json:"seed"`
	Mask        bool   `json:"mask"`
}

func maskOf(w, h int) string { return string(imagegentest.Transparent(w, h)) }

// Every answer about a generation has its options, and null asks for nothing.
func TestOptions(t *testing.T) {
	s := serve(t, httpapi.Options{})
	asked := func(a answer) options {
		t.Helper()
		var o options
		s.decoded(a, &o)
		return o
	}
	a := s.post(fox(`,"output_format":"jpeg","output_compression":0,"background":"opaque","seed":0`))
	g := s.accepted(a, http.StatusOK)
	s.is.Equal(g.Images[0].ContentType, "image/jpeg")
	s.is.Equal(asked(a), options{"jpeg", new(0), "opaque", new(int64(0)), false})
	s.is.Equal(asked(s.do("GET", s.path(g.PollURL), "")), asked(a))
	s.is.True(strings.Contains(s.do("GET", "/api/v1/generations", "").body,
		`"output_format":"jpeg","output_compression":0,"background":"opaque","seed":0`))

	for _, more := range []string{
		`,"output_format":null,"output_compression":null,"background":null,"seed":null,"mask":null`,
		`,"background":"auto"`} {
		none := s.post(fox(more))
		s.accepted(none, http.StatusOK)
		s.is.Equal(asked(none), options{})
	}

	parts := foxForm(part{name: "output_format", value: "webp"}, part{name: "background", value: "transparent"},
		part{name: "seed", value: "4294967295"}, part{name: "mask", file: "m.png", value: maskOf(30, 30)},
		part{name: "mask", file: noName}, part{name: "image", file: "a.png", value: picture(30, 30)})
	a = s.postForm(parts...)
	g = s.accepted(a, http.StatusOK)
	s.is.Equal(g.ReferenceCount, 1)
	s.is.Equal(g.Images[0].ContentType, "image/webp")
	s.is.Equal(asked(a), options{"webp", nil, "transparent", new(int64(4294967295)), true})
	s.is.True(strings.Contains(s.do("GET", "/api/v1/generations", "").body, `"mask":true`))

	a = s.postForm(foxForm(part{name: "output_format", value: "jpeg"}, part{name: "output_compression",
		value: "80"})...)
	s.accepted(a, http.StatusOK)
	s.is.Equal(asked(a), options{Format: "jpeg", Compression: new(80)})
}

func TestOptionRefusals(t *testing.T) {
	s := serve(t, httpapi.Options{})
	plain := serve(t, httpapi.Options{}, func(c *engine.Config) {
		c.Models[0].Provider = plainProvider{c.Models[0].Provider}
	})
	reference := part{name: "image", file: "a.png", value: picture(30, 30)}
	mask := part{name: "mask", file: "m.png", value: maskOf(30, 30)}
	for name, c := range map[string]struct {
		to   *site
		a    func(s *site) answer
		says string
	}{
		"format unknown": {s, func(s *site) answer { return s.post(fox(`,"output_format":"gif"`)) },
			`output_format must be one of [png jpeg webp]; got "gif"`},
		"format empty": {s, func(s *site) answer { return s.post(fox(`,"output_format":""`)) },
			"output_format must be one of"},
		"format a number": {s, func(s *site) answer { return s.post(fox(`,"output_format":1`)) },
			"output_format must be a string"},
		"compression a fraction": {s, func(s *site) answer {
			return s.post(fox(`,"output_format":"jpeg","output_compression":0.5`))
		}, "output_compression must be an integer"},
		"compression too high": {s, func(s *site) answer {
			return s.post(fox(`,"output_format":"jpeg","output_compression":101`))
		}, "output_compression must be from 0 to 100"},
		"compression alone": {s, func(s *site) answer { return s.post(fox(`,"output_compression":50`)) },
			"output_compression needs output_format"},
		"compression of a PNG": {s, func(s *site) answer {
			return s.post(fox(`,"output_format":"png","output_compression":50`))
		}, "output_compression needs output_format"},
		"background unknown": {s, func(s *site) answer { return s.post(fox(`,"background":"white"`)) },
			"background must be one of [auto opaque transparent]"},
		"transparent JPEG": {s, func(s *site) answer {
			return s.post(fox(`,"background":"transparent","output_format":"jpeg"`))
		}, "background transparent"},
		"seed a text": {s, func(s *site) answer { return s.post(fox(`,"seed":"7"`)) },
			"seed must be a number"},
		"seed a fraction": {s, func(s *site) answer { return s.post(fox(`,"seed":1.0`)) },
			"seed must be an integer"},
		"seed negative": {s, func(s *site) answer { return s.post(fox(`,"seed":-1`)) },
			"seed must be from 0"},
		"seed too high": {s, func(s *site) answer { return s.post(fox(`,"seed":4294967296`)) },
			"seed must be from 0 to 4294967295"},
		"seed beyond any integer": {s, func(s *site) answer { return s.post(fox(`,"seed":99999999999999999999`)) },
			"seed must be an integer"},
		"mask in JSON": {s, func(s *site) answer { return s.post(fox(`,"mask":"x"`)) }, "mask is a file"},
		"mask as text": {s, func(s *site) answer {
			return s.postForm(foxForm(reference, part{name: "mask", value: "x"})...)
		}, "mask must be a file"},
		"mask without reference": {s, func(s *site) answer { return s.postForm(foxForm(mask)...) },
			"mask needs the reference image"},
		"two masks": {s, func(s *site) answer { return s.postForm(foxForm(reference, mask, mask)...) },
			"mask was sent twice"},
		"mask without alpha": {s, func(s *site) answer {
			return s.postForm(foxForm(reference, part{name: "mask", file: "m", value: picture(30, 30)})...)
		}, "mask must be a PNG with an alpha channel"},
		"mask of another size": {s, func(s *site) answer {
			return s.postForm(foxForm(reference, part{name: "mask", file: "m", value: maskOf(31, 30)})...)
		}, "mask is 31 x 30"},
		"mask that is not an image": {s, func(s *site) answer {
			return s.postForm(foxForm(reference, part{name: "mask", file: "m", value: "x"})...)
		}, "mask"},

		"webp of a plain model": {plain, func(s *site) answer { return s.post(fox(`,"output_format":"webp"`)) },
			`output_format "webp" cannot be had of this model`},
		"transparent of a plain model": {plain, func(s *site) answer {
			return s.post(fox(`,"background":"transparent"`))
		}, `background "transparent" cannot be had of this model`},
		"seed of a plain model": {plain, func(s *site) answer { return s.post(fox(`,"seed":1`)) },
			"seed is not taken by this model"},
		"mask of a plain model": {plain, func(s *site) answer { return s.postForm(foxForm(reference, mask)...) },
			"mask is not taken by this model"},
	} {
		t.Run(name, func(t *testing.T) {
			message := c.to.refused(c.a(c.to), http.StatusBadRequest, imagegen.CodeInvalidRequest)
			if !strings.HasPrefix(message, c.says) {
				t.Errorf("got %q; want it to begin with %q", message, c.says)
			}
		})
	}
	s.untouched()
	plain.untouched()
}

// Sixteen references leave room for a mask, and a mask takes none of theirs.
func TestMaskBesideAllReferences(t *testing.T) {
	s := serve(t, httpapi.Options{})
	is := is.New(t)
	parts := foxForm(part{name: "mask", file: "m.png", value: maskOf(30, 30)})
	for range imagegen.MaxReferences {
		parts = append(parts, part{name: "image", file: "a.png", value: picture(30, 30)})
	}
	is.Equal(s.accepted(s.postForm(parts...), http.StatusOK).ReferenceCount, imagegen.MaxReferences)
	message := s.refused(s.postForm(append(parts, part{name: "image", file: "a.png", value: picture(30, 30)})...),
		http.StatusBadRequest, imagegen.CodeInvalidRequest)
	is.True(strings.Contains(message, "at most 16 reference images"))
}

// plainProvider declares no option.
type plainProvider struct{ imagegen.Provider }

func (p plainProvider) Capabilities() imagegen.Capabilities {
	c := p.Provider.Capabilities()
	return imagegen.Capabilities{MaxReferences: c.MaxReferences, Verify: c.Verify}
}
