package openai_test

import (
	"bytes"
	"encoding/json"
	"image"
	"net/http"
	"strings"
	"testing"

	"github.com/matryer/is"
	_ "golang.org/x/image/webp"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/httpapi/openai"
	"github.com/imagegend/imagegend/imagegen/httpapi/openapi"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
	"github.com/imagegend/imagegend/imagegen/provider"
)

// dishonoured are the ends of requests that cannot be honoured, with the field that is to blame.
var dishonoured = map[string]struct{ more, param string }{
	"a format that is none":        {`,"output_format":"gif"`, "output_format"},
	"compression alone":            {`,"output_compression":80`, "output_compression"},
	"too much quality":             {`,"output_format":"jpeg","output_compression":101`, "output_compression"},
	"half a compression":           {`,"output_format":"jpeg","output_compression":80.5`, "output_compression"},
	"no background":                {`,"background":"none"`, "background"},
	"transparent JPEG":             {`,"background":"transparent","output_format":"jpeg"`, "background"},
	"no credits at all":            {`,"max_credits":0`, "max_credits"},
	"credits, a text":              {`,"max_credits":"7"`, "max_credits"},
	"too expensive":                {`,"n":4,"max_credits":3`, "max_credits"},
	"a seed below all":             {`,"seed":-1`, "seed"},
	"a seed above all":             {`,"seed":99999999999`, "seed"},
	"mask":                         {`,"mask":"data:image/png;base64,AAAA"`, "mask"},
	"mask, an object":              {`,"mask":{"image_url":"x"}`, "mask"},
	"input_fidelity":               {`,"input_fidelity":"high"`, "input_fidelity"},
	"seed, a text":                 {`,"seed":"7"`, "seed"},
	"moderation":                   {`,"moderation":"low"`, "moderation"},
	"style":                        {`,"style":"vivid"`, "style"},
	"too many":                     {`,"n":5`, "n"},
	"none":                         {`,"n":0`, "n"},
	"a number in text":             {`,"n":"2"`, "n"},
	"a broken number":              {`,"n":1.5`, "n"},
	"unknown quality":              {`,"quality":"ultra"`, "quality"},
	"unknown response_format":      {`,"response_format":"file"`, "response_format"},
	"partial images":               {`,"partial_images":4`, "partial_images"},
	"stream, a text":               {`,"stream":"true"`, "stream"},
	"unknown":                      {`,"negative_prompt":"cats"`, "negative_prompt"},
	"of the native interface":      {`,"async":true`, "async"},
	"twice":                        {`,"size":"64x48"`, "size"},
	"an image for a generation":    {`,"image":"x"`, "image"},
	"images for a generation":      {`,"images":[{"image_url":"x"}]`, "images"},
	"an object":                    {`,"user":{}`, "user"},
	"a number for a text":          {`,"safety_identifier":7`, "safety_identifier"},
	"a name that is a long secret": {`,"` + strings.Repeat("x", 100) + `":1`, strings.Repeat("x", 40) + "…"},
}

// badBodies are requests that cannot be honoured, by the field that is to blame.
var badBodies = map[string]string{
	"model":  `{"model":"gpt-image-9","prompt":"a fox"}`,
	"prompt": `{"model":"fake-1"}`,
	"size":   `{"model":"fake-1","prompt":"a fox","size":"9999x9999"}`,
	"":       `{"model":`,
}

// A field that cannot be honoured is refused before the charge, and the answer names it.
func TestFieldsThatCannotBeHonoured(t *testing.T) {
	s := serve(t, openai.Options{})
	for name, c := range dishonoured {
		s.run(name, func(s *site) {
			s.refused(s.post(generations, fox(c.more)), http.StatusBadRequest, imagegen.CodeInvalidRequest, c.param)
			s.untouched()
		})
	}
	for param, body := range badBodies {
		s.run("body "+param, func(s *site) {
			s.refused(s.post(generations, body), http.StatusBadRequest, imagegen.CodeInvalidRequest, param)
			s.untouched()
		})
	}
}

// No field that the document knows is without such a request.
func TestEachFieldCanBeRefused(t *testing.T) {
	is := is.New(t)
	var document struct {
		Components struct {
			Schemas map[string]struct{ Properties map[string]any }
		}
	}
	is.NoErr(json.Unmarshal(openapi.Document(), &document))
	tried := map[string]bool{}
	for _, c := range dishonoured {
		tried[c.param] = true
	}
	for param := range badBodies {
		tried[param] = true
	}
	for _, schema := range []string{"OpenAIRequest", "OpenAIEdit"} {
		fields := document.Components.Schemas[schema].Properties
		is.True(len(fields) > 10)
		for field := range fields {
			if !tried[field] {
				t.Errorf("no request is refused for its %s", field)
			}
		}
	}
}

// plain is a provider that declares none of what it could.
type plain struct{ imagegen.Provider }

func (plain) Capabilities() imagegen.Capabilities {
	return imagegen.Capabilities{MaxReferences: imagegen.MaxReferences}
}

// An option that a provider does not declare is refused, too.
func TestFieldsThatAreNotDeclared(t *testing.T) {
	s := serve(t, openai.Options{}, func(c *engine.Config) {
		c.Models = []engine.Model{{ID: "fake-1", Provider: plain{&provider.Fake{}},
			Credits: map[imagegen.Tier]imagegen.Credits{"1K": 1}}}
	})
	for param, more := range map[string]string{
		"output_format": `,"output_format":"webp"`,
		"background":    `,"background":"transparent"`,
		"seed":          `,"seed":7`,
	} {
		s.refused(s.post(generations, fox(more)), http.StatusBadRequest, imagegen.CodeInvalidRequest, param)
	}
	s.refused(s.postForm(files("image", 1)[0], part{"mask", "m.png", transparent(30, 30)}), http.StatusBadRequest,
		imagegen.CodeInvalidRequest, "mask")
	s.untouched()
}

// clear makes a PNG that is transparent all over.
func transparent(w, h int) string { return string(imagegentest.Transparent(w, h)) }

// An option that a provider declares is honoured.
func TestFieldsThatAreHonoured(t *testing.T) {
	s := serve(t, openai.Options{})
	ask := func(more string) (images, image.Image, string) {
		got := s.made(s.post(generations, fox(more)))
		m, format, err := image.Decode(bytes.NewReader(got.Data[0].B64))
		s.is.NoErr(err)
		s.is.Equal(m.Bounds(), image.Rect(0, 0, 64, 48))
		s.is.Equal(format, got.Format)
		return got, m, format
	}
	for _, want := range []string{"png", "jpeg", "webp"} {
		_, _, format := ask(`,"output_format":"` + want + `"`)
		s.is.Equal(format, want)
	}
	small, _, _ := ask(`,"output_format":"jpeg","output_compression":1`)
	large, _, _ := ask(`,"output_format":"jpeg","output_compression":100`)
	s.is.True(len(small.Data[0].B64) < len(large.Data[0].B64))
	got, m, _ := ask(`,"background":"transparent"`)
	s.is.Equal(got.Background, "transparent")
	_, _, _, alpha := m.At(0, 0).RGBA()
	s.is.Equal(alpha, uint32(0))
	seven, _, _ := ask(`,"seed":7`)
	again, _, _ := ask(`,"seed":7`)
	eight, _, _ := ask(`,"seed":8`)
	s.is.True(bytes.Equal(seven.Data[0].B64, again.Data[0].B64) && !bytes.Equal(seven.Data[0].B64, eight.Data[0].B64))
}

// A mask goes with an edit, as a file or within JSON, once.
func TestMask(t *testing.T) {
	s := serve(t, openai.Options{})
	one, mask := part{"image", "a.png", transparent(64, 48)}, part{"mask", "m.png", transparent(64, 48)}
	s.pictures(s.made(s.postForm(one, mask)), 1, 64, 48)
	s.pictures(s.made(s.postForm(append(files("image[]", 0), mask, one)...)), 1, 64, 48)
	object := `{"model":"fake-1","prompt":"a fox","size":"64x48","images":[` + link(dataURI(transparent(64, 48))) +
		`],"mask":` + link(dataURI(transparent(64, 48))) + `}`
	s.pictures(s.made(s.post(edits, object)), 1, 64, 48)
	p, err := s.As(imagegentest.Alice).Generations(t.Context(), imagegen.Query{})
	s.is.NoErr(err)
	for _, g := range p.Generations {
		s.is.True(g.Masked && g.ReferenceCount == 1)
	}
	s.credits(97)
	s.refused(s.postForm(one, mask, mask), http.StatusBadRequest, imagegen.CodeInvalidRequest, "mask")
	s.refused(s.postForm(one, part{"mask", "m.png", picture(64, 48)}), http.StatusBadRequest,
		imagegen.CodeInvalidRequest, "mask") // without alpha
	s.refused(s.postForm(one, part{"mask", "m.png", transparent(30, 30)}), http.StatusBadRequest,
		imagegen.CodeInvalidRequest, "mask")
	s.refused(s.post(edits, edit(link(dataURI(transparent(64, 48))))[:len(edit(link(dataURI(transparent(64, 48)))))-1]+
		`,"mask":{"image_url":"https://x/"}}`),
		http.StatusBadRequest, imagegen.CodeInvalidRequest, "mask")
	s.credits(97)
}

// Fields without effect change nothing, and the others do.
func TestFieldsThatAreTaken(t *testing.T) {
	s := serve(t, openai.Options{})
	const nulls = `,"n":null,"quality":null,"response_format":null,"output_format":null,"output_compression":null,"background":null,` +
		`"moderation":null,"image":null,"images":null,"style":null,"input_fidelity":null,"seed":null,"mask":null,"stream":null,"partial_images":null,"user":null,"safety_identifier":null`
	for _, more := range []string{"", nulls, `,"user":"u","safety_identifier":"s"`, `,"background":"auto"`,
		`,"background":"opaque"`, `,"moderation":"auto"`, `,"stream":false,"partial_images":2`,
		`,"response_format":"b64_json"`, `,"quality":"standard"`, `,"quality":"hd"`} {
		s.run(more, func(s *site) {
			s.pictures(s.made(s.post(generations+"?api-version=2025-04-01-preview", fox(more))), 1, 64, 48)
		})
	}
	s.refused(s.post(generations+"?size=1x1", fox("")), http.StatusBadRequest, imagegen.CodeInvalidRequest, "size")
	s.is.Equal(s.made(s.post(generations, fox(`,"quality":"hd"`))).Quality, "high")
	s.is.Equal(s.made(s.post(generations, fox(`,"quality":"standard"`))).Quality, "auto")
	s.is.Equal(s.made(s.post(generations, fox(`,"background":"opaque"`))).Background, "opaque")
}
