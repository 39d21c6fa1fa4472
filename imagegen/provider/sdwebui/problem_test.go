package sdwebui_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/provider/providertest"
	"github.com/imagegend/imagegend/imagegen/provider/sdwebui"
	"github.com/imagegend/imagegend/imagegen/provider/sdwebui/internal/sdwebuitest"
)

func TestProblems(t *testing.T) {
	answers := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(status)
			io.WriteString(w, body)
		}
	}
	for name, c := range map[string]struct {
		upstream http.HandlerFunc
		class    imagegen.Class
		after    time.Duration
		says     string
	}{
		"out of memory": {answers(500,
			`{"error":"OutOfMemoryError","detail":"","body":"","errors":"CUDA out of memory."}`),
			imagegen.ClassUnavailable, 0, "CUDA out of memory"},
		"unknown sampler": {answers(404,
			`{"error":"HTTPException","detail":"Sampler not found","body":"","errors":""}`), imagegen.ClassBlocked, 0,
			"Sampler not found"},
		"bad value": {answers(422,
			`{"detail":[{"loc":["body","width"],"msg":"value is not a valid integer","type":"type_error.integer"}]}`),
			imagegen.ClassInvalid, 0, "not a valid integer"},
		"without --api": {answers(404, `{"detail":"Not Found"}`), imagegen.ClassBlocked, 0, "start it with --api"},
		"bad password": {answers(401, `{"detail":"Incorrect username or password"}`), imagegen.ClassBlocked, 0,
			"refused the user name or the password"},
		"a proxy's limit": {answers(429, `<html>slow down</html>`), imagegen.ClassRateLimited, 7 * time.Second,
			"slow down"},
		"a proxy's page": {answers(502, `<html><body>Bad Gateway</body></html>`), imagegen.ClassUnknown, 0,
			"Bad Gateway"},
		"a proxy's 500": {answers(500, `<html>`), imagegen.ClassUnknown, 0, "500"},
		"no JSON":       {answers(200, `<html>welcome</html>`), imagegen.ClassUnknown, 0, "could not be read"},
		"cut off":       {answers(200, `{"images":[`), imagegen.ClassUnknown, 0, "could not be read"},
		"hangs up": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
			imagegen.ClassUnknown, 0, "lost before it answered"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			images, err := providertest.Collect(t.Context(), serve(t, c.upstream, nil), providertest.Request("a fox",
				1))
			is.Equal(len(images), 0)
			e := providertest.Error(t, err)
			is.Equal(e.Class, c.class)
			is.Equal(e.RetryAfter, c.after)
			is.True(strings.Contains(err.Error(), c.says))
			is.True(!strings.Contains(err.Error(), sdwebuitest.Password))
		})
	}
}

// Images that came before the answer broke off are not lost.
func TestPartOfAnAnswer(t *testing.T) {
	is := is.New(t)
	p := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"images":["data:,aW1hZ2U=","aW1h`)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}), nil)
	images, err := providertest.Collect(t.Context(), p, providertest.Request("a fox", 2))
	is.Equal(len(images), 1)
	is.True(err != nil)
}

func TestProbe(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*sdwebui.Config)
		says   string // "": nothing is wrong
	}{
		"whatever is loaded": {func(*sdwebui.Config) {}, ""},
		"a name":             {func(c *sdwebui.Config) { c.Checkpoint = "sdxl" }, ""},
		"a title":            {func(c *sdwebui.Config) { c.Checkpoint = "sdxl.safetensors [abc123]" }, ""},
		"another checkpoint": {func(c *sdwebui.Config) {
			c.Checkpoint = "flux"
		}, `no checkpoint "flux"; it has ["sdxl.safetensors [abc123]"]`},
		"a wrong password": {func(c *sdwebui.Config) {
			c.Password = "wrong"
		}, "refused the user name or the password"},
		"nothing at the path": {func(c *sdwebui.Config) { c.BaseURL += "/ui" }, "start it with --api"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			err := serve(t, &sdwebuitest.Server{}, c.change).Probe(t.Context())
			if c.says == "" {
				is.NoErr(err)
				return
			}
			is.True(err != nil)
			is.True(strings.Contains(err.Error(), c.says))
		})
	}
}

func TestNew(t *testing.T) {
	for says, c := range map[string]sdwebui.Config{
		"base URL":           {BaseURL: "10.0.0.7:7860"},
		"BestEdge":           {BestEdge: 100},
		"Steps":              {Steps: provider.Steps{Low: -1}},
		"Guidance":           {Guidance: 300},
		"HiresDenoising":     {HiresDenoising: 2},
		"ReferenceDenoising": {ReferenceDenoising: -1},
		"belong together":    {User: "operator"},
		"Input sets width":   {Input: map[string]any{"width": 64}},
		"sets save_images":   {Input: map[string]any{"save_images": true}},
		"without {{prompt}}": {Input: map[string]any{"prompt": "a dog"}},
		"{{chance}}":         {Input: map[string]any{"seed": "{{chance}}"}},
		"colon":              {User: "a:b", Password: "c"},
	} {
		t.Run(says, func(t *testing.T) {
			is := is.New(t)
			_, err := sdwebui.New(c)
			is.True(err != nil)
			is.True(strings.HasPrefix(err.Error(), "sdwebui: "))
			is.True(strings.Contains(err.Error(), says))
		})
	}
}
