package comfyui_test

import (
	"bytes"
	"image"
	"image/png"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/comfyui"
	"github.com/imagegend/imagegend/imagegen/provider/comfyui/internal/comfyuitest"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstreamtest"
	"github.com/imagegend/imagegend/imagegen/provider/providertest"
)

func workflow(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// serve starts a ComfyUI and returns a provider for it, with workflows for no and one reference.
func serve(t *testing.T, upstream http.Handler, change func(*comfyui.Config)) *comfyui.Provider {
	t.Helper()
	return upstreamtest.Serve(t, upstream, func(address string) comfyui.Config {
		return comfyui.Config{BaseURL: address, Workflows: [][]byte{workflow(t, "text"), workflow(t, "reference")}}
	}, change, comfyui.New)
}

// edit asks for n pictures after a reference: by a workflow that draws one at a time.
func edit(prompt string, n int) imagegen.ProviderRequest {
	r := providertest.Request(prompt, n)
	r.References = []imagegen.ProviderReference{providertest.Reference("image/webp", "RIFF", 1600, 900)}
	return r
}

func TestProvider(t *testing.T) {
	providertest.Run(t, providertest.Config{
		New:       func(t *testing.T) imagegen.Provider { return serve(t, &comfyuitest.Server{}, nil) },
		Answering: func(t *testing.T, h http.Handler) imagegen.Provider { return serve(t, h, nil) },
		Endless:   comfyuitest.Endless,
		Sample:    true,
		Usual:     true,
		SavesJobs: true,
	})
}

// The time of each workflow counts, whether it ends with pictures or not; what an older ComfyUI does not say does not.
func TestUsed(t *testing.T) {
	silent := at("/history", http.StatusOK, `{"ID":{"outputs":{"9":{"images":[{"filename":"gone.png","type":"output"}]}},
		"status":{"status_str":"success","messages":[["execution_start",{"prompt_id":"ID"}],["execution_success",[]]]}}}`)
	backwards := at("/history", http.StatusOK, `{"ID":{"outputs":{},"status":{"status_str":"error","messages":[
		["execution_start",{"timestamp":1795773600000}],["execution_error",{"timestamp":1795773599000}]]}}}`)
	for name, c := range map[string]struct {
		before  func(http.ResponseWriter, *http.Request) bool
		request imagegen.ProviderRequest
		want    time.Duration
	}{
		"a batch":          {nil, providertest.Request("a fox", 3), comfyuitest.Ran},
		"several":          {nil, edit("a fox", 3), 3 * comfyuitest.Ran},
		"a failure":        {nil, providertest.Request(comfyuitest.Failing, 1), comfyuitest.Ran},
		"nothing saved":    {nil, providertest.Request(comfyuitest.Unsaved, 1), comfyuitest.Ran},
		"without times":    {silent, providertest.Request("a fox", 1), 0},
		"a clock set back": {backwards, providertest.Request("a fox", 1), 0},
	} {
		t.Run(name, func(t *testing.T) {
			used := providertest.Used(&c.request)
			p := serve(t, &comfyuitest.Server{Before: c.before}, nil)
			for _, err := range p.Generate(t.Context(), c.request) {
				if err == nil && len(c.request.References) == 0 {
					is.New(t).Equal(used().Time, c.want) // before the picture comes
				}
			}
			is.New(t).Equal(used(), imagegen.UpstreamUsage{Time: c.want})
		})
	}
}

func TestWhatIsSubmitted(t *testing.T) {
	is := is.New(t)
	d := &comfyuitest.Server{}
	r := providertest.Request(`a "fox" {{seed}} {{n}}`, 3)
	r.Quality, r.Ratio = "high", "3:2"
	sizes, err := providertest.Collect(t.Context(), serve(t, d, nil), r)
	is.NoErr(err)
	is.Equal(sizes, []imagegen.Size{{Width: 1248, Height: 832}, {Width: 1248, Height: 832}, {Width: 1248, Height: 832}})
	is.Equal(len(d.Workflows()), 1)
	w := d.Workflows()[0]
	is.Equal(w["6"].Inputs["text"], `a "fox" {{seed}} {{n}}, high detail`) // what the user wrote is not a placeholder
	if diff := cmp.Diff(map[string]any{"width": 1248.0, "height": 832.0, "batch_size": 3.0},
		w["5"].Inputs); diff != "" {
		t.Error(diff)
	}
	is.Equal(w["3"].Inputs["steps"], 45.0)
	is.Equal(w["3"].Inputs["cfg"], 7.5)
	is.Equal(w["3"].Inputs["model"], []any{"4", 0.0})
}

func TestReferenceIsUploaded(t *testing.T) {
	is := is.New(t)
	d := &comfyuitest.Server{}
	p := serve(t, d, nil)
	r := edit("as a comic", 2)
	r.Ratio = imagegen.RatioAuto
	for range 2 { // another attempt stores it no second time
		sizes, err := providertest.Collect(t.Context(), p, r)
		is.NoErr(err)
		is.Equal(sizes, []imagegen.Size{{Width: 1280, Height: 720}, {Width: 1280, Height: 720}})
	}
	is.Equal(len(d.Files()), 1)
	seeds := map[any]bool{}
	for _, w := range d.Workflows() {
		name, _ := w["10"].Inputs["image"].(string)
		is.Equal(string(d.Files()[name]), "RIFF")
		is.True(strings.HasPrefix(name, "imagegend/") && strings.HasSuffix(name, "/reference-1.webp"))
		seeds[w["3"].Inputs["seed"]] = true
	}
	is.Equal(len(seeds), 4) // each picture has its own
}

func TestCheck(t *testing.T) {
	is := is.New(t)
	p := serve(t, &comfyuitest.Server{}, nil)
	is.Equal(p.Capabilities().MaxReferences, 1)
	is.NoErr(imagegen.CheckRequest(p, providertest.Request("a fox", 1)))
	is.NoErr(imagegen.CheckRequest(p, edit("a fox", 1)))
	r := providertest.Request("a fox", 1)
	r.References = make([]imagegen.ProviderReference, 2)
	err := imagegen.CheckRequest(p, r)
	is.True(err != nil)
	is.True(strings.Contains(err.Error(), "change the number of reference images to 1"))
	r = providertest.Request("a fox", 1)
	r.Size = imagegen.Size{Width: 4000, Height: 2000}
	is.True(imagegen.CheckRequest(p, r) != nil)
}

func TestExplicitSizes(t *testing.T) {
	p := serve(t, &comfyuitest.Server{}, nil)
	for asked, drawn := range map[string]string{"1024x1024": "1024x1024", "1920x1080": "1920x1088",
		"512x512": "1024x1024", "1001x667": "1008x672"} {
		is := is.New(t)
		r := providertest.Request("a fox", 1)
		r.Size, _ = imagegen.ParseSize(asked)
		r.Ratio = imagegen.NearestRatio(r.Size, imagegen.Ratios())
		sizes, err := providertest.Collect(t.Context(), p, r)
		is.NoErr(err)
		is.Equal(sizes[0].String(), drawn)
	}
}

// A seed that is asked for is the first submission's; each has the next.
func TestSeedIsSent(t *testing.T) {
	is := is.New(t)
	d := &comfyuitest.Server{}
	p := serve(t, d, nil)
	r := edit("as a comic", 2)
	r.Options.Seed = new(int64(7))
	_, err := providertest.Collect(t.Context(), p, r)
	is.NoErr(err)
	text := providertest.Request("a fox", 3) // in one batch
	text.Options.Seed = new(int64(0))
	_, err = providertest.Collect(t.Context(), p, text)
	is.NoErr(err)
	var seeds []any
	for _, w := range d.Workflows() {
		seeds = append(seeds, w["3"].Inputs["seed"])
	}
	is.Equal(seeds, []any{7.0, 8.0, 0.0})
}

// A caller who asks twice for one seed gets the pictures twice: the second time ComfyUI has them in its cache.
func TestTheSameSeedAgain(t *testing.T) {
	is := is.New(t)
	p := serve(t, &comfyuitest.Server{}, nil)
	r := providertest.Request("a fox", 1)
	r.Options.Seed = new(int64(7))
	for range 2 {
		images, err := providertest.Collect(t.Context(), p, r)
		is.NoErr(err)
		is.Equal(len(images), 1)
	}
}

// A mask goes as it came, to the workflow that takes one: ComfyUI draws what is transparent in it.
func TestMaskIsSent(t *testing.T) {
	is := is.New(t)
	d := &comfyuitest.Server{}
	p := serve(t, d, func(c *comfyui.Config) { c.Workflows = append(c.Workflows, workflow(t, "mask")) })
	is.True(p.Capabilities().Mask)
	is.True(p.Capabilities().Orientation)
	is.Equal(p.Capabilities().Metadata, imagegen.MetadataStrip)
	var transparent bytes.Buffer
	is.NoErr(png.Encode(&transparent, image.NewNRGBA(image.Rect(0, 0, 16, 9))))
	mask := providertest.Reference("image/png", transparent.String(), 16, 9)
	r := edit("as a comic", 1)
	_, err := providertest.Collect(t.Context(), p, r)
	is.NoErr(err)
	r.Mask = &mask
	_, err = providertest.Collect(t.Context(), p, r) // the server looks at the mask
	is.NoErr(err)
	is.Equal(d.Workflows()[0]["11"].Class, "")
	name, _ := d.Workflows()[1]["11"].Inputs["image"].(string)
	is.Equal(string(d.Files()[name]), transparent.String())
	is.True(name != d.Workflows()[1]["10"].Inputs["image"])
}

// A mask is refused where no workflow takes one with as many references.
func TestMaskThatNoWorkflowTakes(t *testing.T) {
	is := is.New(t)
	r := edit("as a comic", 1)
	r.Mask = &r.References[0]
	without := serve(t, &comfyuitest.Server{}, nil)
	is.True(!without.Capabilities().Mask)
	is.True(imagegen.CheckRequest(without, r) != nil)
	with := serve(t, &comfyuitest.Server{}, func(c *comfyui.Config) {
		c.Workflows = append(c.Workflows, workflow(t, "mask"))
	})
	is.NoErr(imagegen.CheckRequest(with, r))
	r.References = nil
	is.True(imagegen.CheckRequest(with, r) != nil)
}
