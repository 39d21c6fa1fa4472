package gemini_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/gemini/internal/geminitest"
	"github.com/imagegend/imagegend/imagegen/provider/providertest"
)

// A model's sketches while it thinks are not images of the answer.
func TestThoughtsAreNoPictures(t *testing.T) {
	is := is.New(t)
	sizes, err := providertest.Collect(t.Context(), serve(t, &geminitest.Server{}, nil),
		providertest.Request(geminitest.Pensive, 1))
	is.NoErr(err)
	is.Equal(sizes, []imagegen.Size{{Width: 1024, Height: 1024}})
}

func TestPartsOfAnAnswer(t *testing.T) {
	picture := func(text string) string { return `"inlineData":{"mimeType":"image/png","data":"` + text + `"}` }
	for name, c := range map[string]struct {
		parts string
		want  string // "": none
	}{
		"a picture":                {`{` + picture("Zm94") + `}`, "fox"},
		"the first of two":         {`{` + picture("Zm94") + `},{` + picture("b3ds") + `}`, "fox"},
		"a sketch before":          {`{` + picture("b3ds") + `,"thought":true},{` + picture("Zm94") + `}`, "fox"},
		"a sketch that says first": {`{"thought":true,` + picture("b3ds") + `},{` + picture("Zm94") + `}`, "fox"},
		"a sketch behind":          {`{` + picture("Zm94") + `},{` + picture("b3ds") + `,"thought":true}`, "fox"},
		"a sketch with a list": {`{` + picture("b3ds") + `,"marks":["x","y"],"thought":true},{` + picture("Zm94") +
			`}`, "fox"},
		"no thought, said first": {`{"thought":false,` + picture("Zm94") + `},{` + picture("b3ds") + `}`, "fox"},
		"no thought":             {`{` + picture("Zm94") + `,"thought":false}`, "fox"},
		"words that are thought": {`{"text":"hm","thought":true},{` + picture("Zm94") + `}`, "fox"},
		"words after a sketch":   {`{` + picture("b3ds") + `,"thought":true},{"text":"hm"}`, "owl"},
		"a sketch and nothing":   {`{` + picture("b3ds") + `,"thought":true}`, "owl"},
		"the last sketch": {`{"thought":true,` + picture("b3ds") + `},{` + picture("Zm94") + `,"thought":true}`,
			"fox"},
		"no picture at all": {`{"text":"hm","thought":true}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			p := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				io.WriteString(w, `{"candidates":[{"content":{"parts":[`+c.parts+`]},"finishReason":"STOP"}]}`)
			}), nil)
			got, ended := providertest.Read(t.Context(), p, providertest.Request("a fox", 1))
			is.Equal(strings.Join(got, " "), c.want)
			_, failed := errors.AsType[*imagegen.ProviderError](ended)
			is.Equal(failed, c.want == "")
		})
	}
}

// The sketches of an answer that moderation has stopped are not delivered.
func TestSketchOfAStoppedAnswer(t *testing.T) {
	is := is.New(t)
	p := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"candidates":[{"content":{"parts":[{"inlineData":{"data":"b3ds"},"thought":true}]},`+
			`"finishReason":"IMAGE_SAFETY"}]}`)
	}), nil)
	got, err := providertest.Read(t.Context(), p, providertest.Request("a fox", 1))
	is.Equal(len(got), 0)
	is.Equal(providertest.Error(t, err).Class, imagegen.ClassRefused)
}
