package template_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/template"
)

var rules = imagegen.SizeRules{Step: 16, MaxEdge: 4096, MaxPixels: 2048 * 2048, MaxAspect: 3}

func dataURL(r imagegen.ProviderReference) string { return "data:" + r.MediaType }

func TestFill(t *testing.T) {
	is := is.New(t)
	input := map[string]any{
		"prompt": "{{prompt}}",
		"n":      "{{n}}",
		"image": map[string]any{"width": "{{width}}", "height": "{{height}}",
			"name": "{{width}} by {{height}}, {{ratio}}"},
		"size": "{{size}}", "resolution": "{{tier}}", "quality": "{{quality}}",
		"first": "{{reference}}", "all": "{{references}}", "also": []any{"{{reference}}", 7, true, nil},
		"steps": 28, "odd": "{not one} {{ {",
	}
	f, err := template.New(template.Model{Input: input, Can: imagegen.Capabilities{SizeRules: rules, MaxReferences: 2},
		MaxPerCall: 4, TierNames: map[imagegen.Tier]string{"2K": "4 MP"}})
	is.NoErr(err)
	r := imagegen.ProviderRequest{Prompt: "a {{width}} fox", N: 3, Ratio: "4:3", Tier: "2K", Quality: "high"}
	size := imagegen.Size{Width: 2304, Height: 1728}
	got := f.Fill(r, size, dataURL)
	want := map[string]any{
		"prompt": "a {{width}} fox", // a prompt is not filled in
		"n":      3,
		"image":  map[string]any{"width": 2304, "height": 1728, "name": "2304 by 1728, 4:3"},
		"size":   "2304x1728", "resolution": "4 MP", "quality": "high",
		"also":  []any{7, true, nil}, // and what has no reference is left out
		"steps": 28, "odd": "{not one} {{ {",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}

	r.References = []imagegen.ProviderReference{{MediaType: "image/png"}, {MediaType: "image/webp"}}
	got = f.Fill(r, size, dataURL)
	is.Equal(got["first"], "data:image/png")
	is.Equal(got["all"], []string{"data:image/png", "data:image/webp"})
	is.Equal(got["also"], []any{"data:image/png", 7, true, nil})
}

func TestNewRefuses(t *testing.T) {
	pixels := func(more ...string) map[string]any {
		input := map[string]any{"prompt": "{{prompt}}", "size": "{{size}}"}
		for _, placeholder := range more {
			input[placeholder] = placeholder
		}
		return input
	}
	named := func(placeholders ...string) map[string]any {
		return map[string]any{"prompt": "{{prompt}}", "how": strings.Join(placeholders, " ")}
	}
	square, large, wide := imagegen.Size{Width: 1024, Height: 1024}, imagegen.Size{Width: 2048, Height: 2048},
		imagegen.Size{Width: 1280, Height: 720}
	for name, c := range map[string]struct {
		model template.Model
		says  string
	}{
		"no prompt":            {template.Model{Input: map[string]any{"size": "{{size}}"}}, "{{prompt}}"},
		"no input":             {template.Model{}, "{{prompt}}"},
		"unknown placeholder":  {template.Model{Input: pixels("{{chance}}")}, "{{chance}}"},
		"misspelt placeholder": {template.Model{Input: pixels("{{ Prompt }}")}, "{{ Prompt }}"},
		"width alone":          {template.Model{Input: pixels("{{width}}")}, "needs both"},
		"reference in a text": {template.Model{Input: pixels("see {{reference}}"),
			Can: imagegen.Capabilities{MaxReferences: 1}}, "stand alone"},
		"references dropped": {template.Model{Input: pixels(), Can: imagegen.Capabilities{MaxReferences: 1}},
			"MaxReferences is 1"},
		"all but one dropped": {template.Model{Input: pixels("{{reference}}"),
			Can: imagegen.Capabilities{MaxReferences: 2}}, "use {{references}}"},
		"references never come": {template.Model{Input: pixels("{{references}}")}, "MaxReferences is 0"},
		"too many references": {template.Model{Input: pixels("{{references}}"),
			Can: imagegen.Capabilities{MaxReferences: 17}}, "up to 16"},
		"count dropped":        {template.Model{Input: pixels(), MaxPerCall: 2}, "{{n}}"},
		"too many per call":    {template.Model{Input: pixels("{{n}}"), MaxPerCall: 5}, "MaxPerCall is 5"},
		"size dropped":         {template.Model{Input: named()}, "list in Sizes"},
		"shape without a list": {template.Model{Input: named("{{ratio}}")}, "list in Sizes"},
		"shapes not distinguished": {template.Model{Input: named("{{tier}}"),
			Can: imagegen.Capabilities{Sizes: []imagegen.Size{square, wide}}}, "1280x720"},
		"tiers not distinguished": {template.Model{Input: named("{{ratio}}"),
			Can: imagegen.Capabilities{Sizes: []imagegen.Size{square, large}}}, "2048x2048"},
		"nothing distinguished": {template.Model{Input: named(),
			Can: imagegen.Capabilities{Sizes: []imagegen.Size{square, large}}}, "2048x2048"},
		"a value of a wrong type": {template.Model{Input: map[string]any{"prompt": "{{prompt}}", "x": struct{}{}}},
			"struct"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			c.model.MaxPerCall = max(1, c.model.MaxPerCall)
			if c.model.Can.Sizes == nil {
				c.model.Can.SizeRules = rules
			}
			_, err := template.New(c.model)
			is.True(err != nil)
			is.True(strings.Contains(err.Error(), c.says))
		})
	}
}

func TestNamedSizes(t *testing.T) {
	is := is.New(t)
	f, err := template.New(template.Model{MaxPerCall: 1,
		Input: map[string]any{"prompt": "{{prompt}}", "aspect_ratio": "{{ratio}}", "resolution": "{{tier}}"},
		Can: imagegen.Capabilities{Sizes: []imagegen.Size{{Width: 1024, Height: 1024}, {Width: 2048, Height: 2048},
			{Width: 1344, Height: 768}}}})
	is.NoErr(err)
	got := f.Fill(imagegen.ProviderRequest{Prompt: "a fox"}, imagegen.Size{Width: 1344, Height: 768}, dataURL)
	is.Equal(got, map[string]any{"prompt": "a fox", "aspect_ratio": "16:9", "resolution": "1K"})
}

// Who asks is sent where there is a place for it, and only if something stands for it.
func TestEndUser(t *testing.T) {
	is := is.New(t)
	size := imagegen.Size{Width: 1024, Height: 1024}
	f, err := template.New(template.Model{MaxPerCall: 1, Can: imagegen.Capabilities{Sizes: []imagegen.Size{size}},
		Input: map[string]any{"prompt": "{{prompt}}", "customer": "{{end_user}}"}})
	is.NoErr(err)
	is.True(f.Can.EndUser)
	got := f.Fill(imagegen.ProviderRequest{Prompt: "a fox", EndUser: "01ab"}, size, dataURL)
	is.Equal(got, map[string]any{"prompt": "a fox", "customer": "01ab"})
	is.Equal(f.Fill(imagegen.ProviderRequest{Prompt: "a fox"}, size, dataURL), map[string]any{"prompt": "a fox"})
}

// In nested lists, only the innermost element that contains the placeholder is repeated.
func TestEachReference(t *testing.T) {
	each := map[string]any{"url": "{{each_reference}}"}
	words := map[string]any{"text": "{{prompt}}"}
	url := func(of string) map[string]any { return map[string]any{"url": "data:image/" + of} }
	said := map[string]any{"text": "a fox"}
	for name, c := range map[string]struct {
		list          any
		with, without any // nil: the field is left out
	}{
		"of a list":          {[]any{words, each}, []any{said, url("png"), url("webp")}, []any{said}},
		"alone in a list":    {[]any{each}, []any{url("png"), url("webp")}, nil},
		"a string of a list": {[]any{"{{each_reference}}"}, []any{"data:image/png", "data:image/webp"}, nil},
		"of a list in a list": {[]any{map[string]any{"content": []any{words, each}}},
			[]any{map[string]any{"content": []any{said, url("png"), url("webp")}}},
			[]any{map[string]any{"content": []any{said}}}},
		"alone in an inner list": {[]any{map[string]any{"role": "user", "content": []any{each}}},
			[]any{map[string]any{"role": "user", "content": []any{url("png"), url("webp")}}},
			[]any{map[string]any{"role": "user"}}},
		"of a list of lists": {[]any{[]any{"{{each_reference}}"}},
			[]any{[]any{"data:image/png", "data:image/webp"}}, nil},
		"in both lists": {[]any{map[string]any{"url": "{{each_reference}}", "again": []any{each}}},
			[]any{map[string]any{"url": "data:image/png", "again": []any{url("png")}},
				map[string]any{"url": "data:image/webp", "again": []any{url("webp")}}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			f, err := template.New(template.Model{Input: map[string]any{"prompt": "{{prompt}}", "size": "{{size}}",
				"list": c.list},
				Can: imagegen.Capabilities{SizeRules: rules, MaxReferences: 2}, MaxPerCall: 1})
			is.NoErr(err)
			r := imagegen.ProviderRequest{Prompt: "a fox", N: 1}
			is.Equal(cmp.Diff(c.without, f.Fill(r, imagegen.Size{Width: 1024, Height: 1024}, dataURL)["list"]), "")
			r.References = []imagegen.ProviderReference{{MediaType: "image/png"}, {MediaType: "image/webp"}}
			is.Equal(cmp.Diff(c.with, f.Fill(r, imagegen.Size{Width: 1024, Height: 1024}, dataURL)["list"]), "")
		})
	}
}
