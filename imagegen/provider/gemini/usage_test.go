package gemini_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/gemini/internal/geminitest"
	"github.com/imagegend/imagegend/imagegen/provider/providertest"
)

func TestUsed(t *testing.T) {
	one := imagegen.UpstreamUsage{TextInput: 8, ImageInput: 560, TextOutput: 230, ImageOutput: 1120}
	for name, c := range map[string]struct {
		prompt string
		images int
		want   imagegen.UpstreamUsage
	}{
		"one":                      {"a fox", 1, one},
		"several calls":            {"a fox", 3, one.Plus(one).Plus(one)},
		"sketches":                 {geminitest.Pensive, 1, one},
		"no image but words":       {geminitest.Chatty, 1, one},
		"refused":                  {geminitest.Forbidden, 1, imagegen.UpstreamUsage{TextInput: 8}},
		"refused when it was made": {geminitest.Unsafe, 1, imagegen.UpstreamUsage{TextInput: 8}},
	} {
		t.Run(name, func(t *testing.T) {
			p := serve(t, &geminitest.Server{}, nil)
			r := providertest.Request(c.prompt, c.images)
			used, images := providertest.Used(&r), 0
			for _, err := range p.Generate(t.Context(), r) {
				if images++; err != nil || images == c.images {
					break // as the engine does: the usage stands behind the image
				}
			}
			is.New(t).Equal(used(), c.want)
		})
	}
}

// A figure costs no image, whatever it is.
func TestUsageOfOtherForms(t *testing.T) {
	for usage, want := range map[string]imagegen.UpstreamUsage{
		`{}`:                       {},
		`7`:                        {},
		`[{"promptTokenCount":7}]`: {},
		`{"promptTokenCount":7,"candidatesTokenCount":5}`:                            {TextInput: 7, ImageOutput: 5},
		`{"promptTokenCount":-7,"candidatesTokenCount":"5","thoughtsTokenCount":{}}`: {},
		`{"promptTokenCount":7,"promptTokensDetails":[{"tokenCount":5,"modality":"IMAGE"},{"tokenCount":2}]}`: {
			TextInput: 2, ImageInput: 5},
		`{"promptTokenCount":7,"promptTokensDetails":[{"modality":"IMAGE"},{"tokenCount":2}]}`: {TextInput: 7},
		`{"promptTokenCount":7,"promptTokensDetails":[{"modality":"AUDIO","tokenCount":2}]}`:   {TextInput: 7},
		`{"promptTokensDetails[].tokenCount":7,"promptTokensDetails":{"tokenCount":7}}`:        {},
	} {
		t.Run(usage, func(t *testing.T) {
			is := is.New(t)
			p := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				io.WriteString(w, `{"candidates":[{"content":{"parts":[{"inlineData":{"data":"Zm94"}}]}}],"usageMetadata":`+
					usage+`}`)
			}), nil)
			r := providertest.Request("a fox", 1)
			used := providertest.Used(&r)
			for i, err := range p.Generate(t.Context(), r) {
				is.NoErr(err)
				image, err := io.ReadAll(i.Body)
				is.NoErr(err)
				is.Equal(string(image), "fox")
				break // the usage follows at once
			}
			is.Equal(used(), want)
		})
	}
}
