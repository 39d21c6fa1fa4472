package openai_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/provider/openai"
	"github.com/imagegend/imagegend/imagegen/provider/openai/internal/openaitest"
)

func TestProbe(t *testing.T) {
	is := is.New(t)
	is.NoErr(serve(t, &openaitest.Server{}, nil).Probe(t.Context()))
	err := serve(t, &openaitest.Server{}, func(c *openai.Config) { c.Model = "gpt-image-1" }).Probe(t.Context())
	is.True(err != nil && !errors.Is(err, provider.ErrUnconfirmed)) // OpenAI itself says that it has none
	is.True(strings.Contains(err.Error(), `"gpt-image-1": provider: blocked: the upstream does not know the model`))
}

// Servers that have a list of models and nothing else to ask work, and are not called out of order.
func TestProbeOfAList(t *testing.T) {
	for name, c := range map[string]struct {
		status      int
		list        string
		unconfirmed bool
		says        string // "": nothing is wrong
	}{
		"listed": {200, `{"object":"list","data":[{"id":"sdxl","object":"model"},{"id":"gpt-image-2"}]}`, false,
			""},
		"not listed": {200, `{"data":[{"id":"sd-cpp-local","object":"model","owned_by":"local"}]}`, true,
			`it lists ["sd-cpp-local"]`},
		"an empty list":  {200, `{"data":[]}`, true, "does not tell whether it has the model"},
		"no list either": {404, `Not Found`, false, "404"},
		"a bad key":      {401, `{}`, false, "refused the API key"},
		"a page":         {200, `<html>`, false, "could not be read"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			p := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/v1/models" {
					w.WriteHeader(http.StatusNotFound) // as LocalAI words it
					fmt.Fprint(w, `{"error":{"code":404,"message":"Not Found","type":""}}`)
					return
				}
				w.WriteHeader(c.status)
				io.WriteString(w, c.list)
			}), nil)
			err := p.Probe(t.Context())
			is.Equal(errors.Is(err, provider.ErrUnconfirmed), c.unconfirmed)
			is.Equal(err == nil, c.says == "")
			is.True(err == nil || strings.Contains(err.Error(), c.says))
		})
	}
}
