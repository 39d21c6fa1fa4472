package httpapi_test

import (
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
	"github.com/imagegend/imagegend/imagegen/provider"
)

// BenchmarkHandler measures the handler with engine, memory storage and log, without the network.
func BenchmarkHandler(b *testing.B) {
	is := is.New(b)
	e := imagegentest.Start(b, func(c *engine.Config) {
		c.Models[0].Provider = &provider.Fake{Image: []byte(picture(1024, 1024))}
	})
	h := httpapi.NewHandler(e.Engine, httpapi.Options{Log: slog.New(slog.NewJSONHandler(io.Discard, nil))})
	e.Grant(b, imagegentest.Alice, 1<<40)
	key := "Bearer " + e.Key(b, imagegentest.Alice)
	const body = `{"model":"fake-1","prompt":"a fox in the snow"}`
	made, err := e.As(imagegentest.Alice).Generate(b.Context(), imagegen.GenerateRequest{Model: imagegentest.Model,
		Prompt: "a fox"})
	is.NoErr(err)

	for name, path := range map[string]string{
		"models":     "/api/v1/models",
		"balance":    "/api/v1/credits",
		"generation": "/api/v1/generations/" + string(made.ID),
		"image":      "/images/" + string(made.Images[0].ID),
		"not found":  "/nowhere",
		"generate":   generations,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			method := http.MethodGet
			if path == generations {
				method = http.MethodPost
			}
			for b.Loop() {
				r, err := http.NewRequest(method, path, strings.NewReader(body))
				if err != nil {
					b.Fatal(err)
				}
				r.Host = "images.example.com"
				r.Header["Authorization"] = []string{key}
				r.Header["Content-Type"] = []string{"application/json"}
				w := &discarding{header: make(http.Header)}
				h.ServeHTTP(w, r)
				if w.status >= http.StatusInternalServerError {
					b.Fatal(w.status)
				}
			}
		})
	}
}

// discarding is a ResponseWriter that keeps only the status.
type discarding struct {
	header http.Header
	status int
}

func (d *discarding) Header() http.Header              { return d.header }
func (d *discarding) WriteHeader(status int)           { d.status = status }
func (d *discarding) SetReadDeadline(time.Time) error  { return nil }
func (d *discarding) SetWriteDeadline(time.Time) error { return nil }
func (d *discarding) Write(p []byte) (int, error)      { return io.Discard.Write(p) }
