package openai_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/openai"
	"github.com/imagegend/imagegend/imagegen/provider/openai/internal/openaitest"
	"github.com/imagegend/imagegend/imagegen/provider/providertest"
)

// answers has the upstream say this.
func answers(t *testing.T, body string) *openai.Provider {
	return serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) }), nil)
}

func TestUsed(t *testing.T) {
	for name, c := range map[string]struct {
		perCall, images, references int
		taken                       int // after how many images the caller has enough
		want                        imagegen.UpstreamUsage
	}{
		"one":     {10, 1, 0, 1, imagegen.UpstreamUsage{TextInput: 12, TextOutput: 40, ImageOutput: 272}},
		"several": {10, 3, 0, 4, imagegen.UpstreamUsage{TextInput: 12, TextOutput: 40, ImageOutput: 816}},
		"with references": {10, 2, 2, 2, imagegen.UpstreamUsage{TextInput: 12, ImageInput: 646, TextOutput: 40,
			ImageOutput: 544}},
		"several calls": {1, 3, 0, 3, imagegen.UpstreamUsage{TextInput: 36, TextOutput: 120, ImageOutput: 816}},
		"broken off": {10, 3, 0, 1, imagegen.UpstreamUsage{TextInput: 12, TextOutput: 40, ImageOutput: 816,
			Surplus: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			p := serve(t, &openaitest.Server{}, func(o *openai.Config) { o.MaxPerCall = c.perCall })
			r := providertest.Request("a fox", c.images)
			for range c.references {
				r.References = append(r.References,
					providertest.Reference("image/png", "\x89PNG\r\n\x1a\n"+padding, 40, 40))
			}
			used, images := providertest.Used(&r), 0
			for _, err := range p.Generate(t.Context(), r) {
				is.NoErr(err)
				if images++; images == c.taken {
					break // as the engine does: the usage stands behind the images
				}
			}
			is.Equal(used(), c.want)
		})
	}
}

// What an answer says counts wherever it stands, and costs no image if it cannot be right.
func TestUsedByOtherServices(t *testing.T) {
	const image = `"data":[{"b64_json":"iVBORw=="}]`
	for name, c := range map[string]struct {
		body string
		want imagegen.UpstreamUsage
	}{
		"nothing said": {`{` + image + `}`, imagegen.UpstreamUsage{}},
		"before the images": {`{"usage":{"input_tokens":9,"output_tokens":7},` + image + `}`,
			imagegen.UpstreamUsage{TextInput: 9, ImageOutput: 7}},
		"of another form": {`{` + image + `,"usage":[1,2]}`, imagegen.UpstreamUsage{}},
		"no numbers": {`{` + image + `,"usage":{"input_tokens":"9","output_tokens":null,"input_tokens_details":7}}`,
			imagegen.UpstreamUsage{}},
		"absurd":    {`{` + image + `,"usage":{"input_tokens":-9,"output_tokens":1e99}}`, imagegen.UpstreamUsage{}},
		"cut short": {`{` + image + `,"usage":{"input_tokens":9,"outp`, imagegen.UpstreamUsage{TextInput: 9}},
		"a cost":    {`{` + image + `,"usage":{"input_tokens":9,"cost":0.04}}`, imagegen.UpstreamUsage{TextInput: 9}},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			r := providertest.Request("a fox", 1)
			used := providertest.Used(&r)
			images, _ := providertest.Read(t.Context(), answers(t, c.body), r)
			is.Equal(images, []string{"\x89PNG"})
			is.Equal(used(), c.want)
		})
	}
	is := is.New(t)
	r := providertest.Request("a fox", 1)
	used := providertest.Used(&r)
	images, err := providertest.Read(t.Context(), answers(t, `{"data":[],"usage":{"input_tokens":9}}`), r)
	is.Equal(len(images), 0)
	is.Equal(providertest.Error(t, err).Class, imagegen.ClassUnknown)
	is.Equal(used(), imagegen.UpstreamUsage{TextInput: 9}) // it has cost nevertheless
}

// Links are fetched when the answer has been read, so what it says comes before their images.
func TestUsedBeforeLinkedImages(t *testing.T) {
	is := is.New(t)
	d := &openaitest.Server{}
	p := serve(t, d, func(c *openai.Config) {
		d.Link = func(path string) string { return strings.TrimSuffix(c.BaseURL, "/v1") + path }
	})
	r := providertest.Request("a fox", 1)
	used := providertest.Used(&r)
	for _, err := range p.Generate(t.Context(), r) {
		is.NoErr(err)
		is.Equal(used().ImageOutput, int64(272))
	}
}

// An upstream that does not end its answer holds nobody up for long who has the images.
func TestAnswerThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"data":[{"b64_json":"iVBORw=="}],"usage":{"input_tokens":9,`)
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}), nil)
	r := providertest.Request("a fox", 1)
	used := providertest.Used(&r)
	began := time.Now()
	for _, err := range p.Generate(t.Context(), r) {
		is.NoErr(err)
		break
	}
	is.True(time.Since(began) < 10*time.Second)
	is.Equal(used().TextInput, int64(9))
}
