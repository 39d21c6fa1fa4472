package openai_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
	"github.com/imagegend/imagegend/imagegen/provider/openai"
	"github.com/imagegend/imagegend/imagegen/storage"
)

// photo is a PNG in which every pixel differs a little from its neighbours, as in photographs.
func photo(tb testing.TB, edge int, level png.CompressionLevel) []byte {
	m := image.NewNRGBA(image.Rect(0, 0, edge, edge))
	rand.NewChaCha8([32]byte{}).Read(m.Pix)
	for i := range m.Pix {
		m.Pix[i] = m.Pix[i]&0x0f | 0x70
		if i%4 == 3 {
			m.Pix[i] = 0xff
		}
	}
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: level}).Encode(&out, m); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

// answering is an upstream that answers each call with the same image.
func answering(tb testing.TB, image []byte) *openai.Provider {
	body := []byte(`{"created":1,"data":[{"b64_json":"` + base64.StdEncoding.EncodeToString(image) +
		`"}],"usage":{"total_tokens":1}}`)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		w.Write(body)
	}))
	tb.Cleanup(s.Close)
	p, err := openai.New(openai.Config{BaseURL: s.URL + "/v1", Private: true,
		SizeRules: imagegen.SizeRules{Step: 16, MaxEdge: 4096, MaxPixels: 4096 * 4096, MaxAspect: 3}})
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// BenchmarkGenerate takes an image all the way: from an upstream's answer over HTTP to the disk, with its charge and
// its settlement. The upstream's part counts as well, for it runs in the same process.
func BenchmarkGenerate(b *testing.B) {
	for _, c := range []struct {
		edge  int
		level png.CompressionLevel
	}{{1024, png.DefaultCompression}, {4096, png.NoCompression}} {
		image := photo(b, c.edge, c.level)
		for _, callers := range []int{1, 32} {
			b.Run(fmt.Sprintf("bytes=%d/callers=%d", len(image), callers), func(b *testing.B) {
				s := engineOnDisk(b, answering(b, image), callers)
				b.SetBytes(int64(len(image)))
				b.ReportAllocs()
				b.SetParallelism(max(1, callers/runtime.GOMAXPROCS(0)))
				size := imagegen.Size{Width: c.edge, Height: c.edge}
				generate := func() {
					if _, err := s.Generate(b.Context(), imagegen.GenerateRequest{Model: imagegentest.Model,
						Prompt: "a fox", Size: size}); err != nil {
						b.Error(err)
					}
				}
				if callers == 1 {
					for b.Loop() {
						generate()
					}
					return
				}
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						generate()
					}
				})
			})
		}
	}
}

func engineOnDisk(tb testing.TB, p imagegen.Provider, slots int) *engine.Session {
	db, err := storage.Open(tb.TempDir(), nil)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = db.Close() })
	e := imagegentest.StartOver(tb, db, func(c *engine.Config) {
		c.Models[0].Provider, c.Limits.Concurrency = p, slots
	})
	if _, err := db.Grant(tb.Context(), imagegen.Grant{User: imagegentest.Alice, Credits: 1 << 30}); err != nil {
		tb.Fatal(err)
	}
	return e.As(imagegentest.Alice)
}
