package upstreams_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/provider/providertest"
)

// pngOf is a picture of a size, written WxH.
func pngOf(size string) []byte {
	var w, h int
	fmt.Sscanf(size, "%dx%d", &w, &h)
	var b bytes.Buffer
	png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))) // a buffer takes all
	return b.Bytes()
}

// The APIs, which refuse whatever they do not know, accept the configurations in the documents, and make what is asked
// for: every ratio in every tier, explicit sizes, as many images and with as many references as may be.
func TestDocumentedVendors(t *testing.T) {
	for name := range vendors() {
		t.Run(name, func(t *testing.T) {
			providertest.Run(t, providertest.Config{
				New: func(t *testing.T) imagegen.Provider {
					return documented(t, name, serve(t, vendors()[name]))
				},
				Answering: func(t *testing.T, h http.Handler) imagegen.Provider {
					return documented(t, name, serve(t, h))
				},
				Endless: endless,
				Sample:  true,
			})
		})
	}
}

func fox(prompt string) imagegen.ProviderRequest {
	return imagegen.ProviderRequest{Key: "gen_1", Prompt: prompt, N: 1, Ratio: "1:1", Tier: "2K", Quality: "auto",
		SaveJob: func(context.Context, []byte) error { return nil }}
}

func endOf(t *testing.T, p imagegen.Provider, r imagegen.ProviderRequest) (ended error) {
	t.Helper()
	if imagegen.CheckRequest(p, r) != nil {
		r.Tier = "1K"
	}
	for _, err := range p.Generate(t.Context(), r) {
		ended = err
	}
	return ended
}

// The answers of an API have the meaning that the documents say.
func TestWhatVendorsSay(t *testing.T) {
	refused := map[string]imagegen.Class{"openrouter": imagegen.ClassRefused, "xai": imagegen.ClassRefused,
		"byteplus": imagegen.ClassRefused,
		// two of them do not tell moderation apart
		"siliconflow": imagegen.ClassInvalid, "together": imagegen.ClassInvalid, "ideogram": imagegen.ClassRefused}
	for name, want := range refused {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			v := vendors()[name]
			address := serve(t, v)
			p := documented(t, name, address)
			is.Equal(classOf(endOf(t, p, fox(forbidden))), want)
			is.Equal(len(v.requests()), 1) // and nothing was sent twice
			err := p.(provider.Prober).Probe(t.Context())
			is.Equal(errors.Is(err, provider.ErrUnconfirmed), v.probe == "")
			is.True(err == nil || v.probe == "")

			v.keyHeader = "Another" // no key fits any more
			err = endOf(t, p, fox("a fox"))
			is.Equal(classOf(err), imagegen.ClassBlocked)
			is.True(strings.Contains(err.Error(), "refused the API key") && !carries(err.Error()))
			err = p.(provider.Prober).Probe(t.Context())
			is.True(err != nil && strings.Contains(err.Error(), "refused the API key"))
		})
	}
}

// The cost that OpenRouter names is reported, in millionths of a dollar.
func TestWhatVendorsCharge(t *testing.T) {
	is := is.New(t)
	r := fox("a fox")
	used := providertest.Used(&r)
	is.NoErr(endOf(t, documented(t, "openrouter", serve(t, vendors()["openrouter"])), r))
	is.Equal(used(), imagegen.UpstreamUsage{Units: 40_000})
}

func classOf(err error) imagegen.Class {
	if e, ok := errors.AsType[*imagegen.ProviderError](err); ok {
		return e.Class
	}
	return imagegen.ClassUnknown
}

// Statuses mean what the examples say, and what they do not mention means what it means everywhere.
func TestWhatStatusesMean(t *testing.T) {
	for _, c := range []struct {
		vendor string
		status int
		class  imagegen.Class
	}{
		{"openrouter", 402, imagegen.ClassBlocked},
		{"openrouter", 403, imagegen.ClassRefused},
		{"openrouter", 429, imagegen.ClassRateLimited},
		{"openrouter", 502, imagegen.ClassUnknown},
		{"openrouter", 503, imagegen.ClassUnavailable},
		{"together", 402, imagegen.ClassBlocked},
		{"together", 403, imagegen.ClassInvalid},
		{"together", 503, imagegen.ClassUnknown},
		{"byteplus", 403, imagegen.ClassBlocked}, // an overdue account
		{"byteplus", 404, imagegen.ClassBlocked}, // a model that was not opened
		{"ideogram", 422, imagegen.ClassRefused},
		{"siliconflow", 503, imagegen.ClassUnknown},
	} {
		t.Run(fmt.Sprint(c.vendor, c.status), func(t *testing.T) {
			is := is.New(t)
			address := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.status)
				io.WriteString(w, `{"error":{"message":"no","code":"no"}}`)
			}))
			is.Equal(classOf(endOf(t, documented(t, c.vendor, address), fox("a fox"))), c.class)
		})
	}
}
