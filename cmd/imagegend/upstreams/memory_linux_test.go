package upstreams_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

const (
	maxMemory  = 300 << 20
	diskNeeded = 8 << 30
)

// Generations of large images are in flight at once, 32 of four images of 25 MB among them. The daemon
// takes less than 300 MiB, at its peak, for everything.
func TestMemoryWithLargeImages(t *testing.T) {
	square := func(edge int) image.Rectangle { return image.Rect(0, 0, edge, edge) }
	for name, c := range map[string]struct {
		file        []byte
		size        string
		quality     string
		inFlight, n int
	}{
		"25 MB": {file: noise(t, image.NewNRGBA(square(2880))), size: "auto", quality: "high",
			inFlight: 32, n: 4},
		"25 MB in 16 bits a pixel": {file: noise(t, image.NewNRGBA64(square(2048))), size: "auto", quality: "medium",
			inFlight: 32, n: 1},
		"scaled down": {file: noise(t, image.NewNRGBA(square(2880))), size: "2870x2870", quality: "auto",
			inFlight: 8, n: 1},
		"progressive JPEG": {file: progressive(2048), size: "auto", quality: "medium", inFlight: 32, n: 1},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			dir := t.TempDir()
			daemontest.NeedDisk(t, dir, diskNeeded)
			upstream := httptest.NewServer(&gathering{wanted: c.inFlight, n: c.n,
				picture: base64.StdEncoding.EncodeToString(c.file), all: make(chan struct{})})
			defer upstream.Close()
			models := modelsFile(t,
				map[string]string{
					"large": fmt.Sprintf(
						"{type: openai, base_url: %s/v1, private: true}\n    credits: {1K: 1, 2K: 1, 4K: 1}",
						upstream.URL)}, nil)
			d := daemontest.Start(t, daemontest.Options{DataDir: dir, Args: []string{"--models", models,
				"--concurrency", strconv.Itoa(c.inFlight)}})
			_, key := d.NewUser(c.inFlight * c.n)
			atRest := d.RSS()

			var callers sync.WaitGroup
			for range c.inFlight {
				callers.Go(func() {
					request := daemontest.Generate(key, object{"model": "large", "prompt": "noise", "n": c.n,
						"size": c.size, "quality": c.quality})
					answer, err := d.Do(t.Context(), request)
					if n := bytes.Count(answer.Body, []byte(`"width":`)); err != nil ||
						answer.Status != http.StatusOK || n != c.n {
						t.Errorf("status %d with %d images: %.300s: %v", answer.Status, n, answer.Body, err)
					}
				})
			}
			callers.Wait()
			t.Logf("%d MiB resident at rest, %d MiB at most with %d images of %.1f MB", atRest>>20, d.RSS()>>20,
				c.inFlight*c.n, float64(len(c.file))/1e6)
			is.True(d.RSS() < maxMemory)
			is.Equal(d.MustBalance(t, key), 0) // every image was delivered
		})
	}
}

// noise is a PNG of a picture's size and depth that cannot be compressed.
func noise(t *testing.T, picture draw.Image) []byte {
	t.Helper()
	random := rand.NewChaCha8([32]byte{})
	switch p := picture.(type) {
	case *image.NRGBA:
		random.Read(p.Pix)
		for i := 3; i < len(p.Pix); i += 4 {
			p.Pix[i] = 0xff
		}
	case *image.NRGBA64:
		random.Read(p.Pix)
		for i := 6; i < len(p.Pix); i += 8 {
			p.Pix[i], p.Pix[i+1] = 0xff, 0xff
		}
	}
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.NoCompression}
	if err := encoder.Encode(&b, picture); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// progressive is a grey square as a progressive JPEG without anything to refine. It is small, and yet
// a decoder keeps every coefficient of its three components.
func progressive(edge int) []byte {
	const components = 3
	segment := func(to []byte, marker byte, data ...byte) []byte {
		to = append(to, 0xff, marker)
		to = binary.BigEndian.AppendUint16(to, uint16(2+len(data)))
		return append(to, data...)
	}
	size := binary.BigEndian.AppendUint16(nil, uint16(edge))
	file := []byte{0xff, 0xd8}
	// quantisation
	file = segment(file, 0xdb, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...)...)
	file = segment(file, 0xc2, slices.Concat([]byte{8}, size, size, []byte{components, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11,
		0})...) // frame
	// one code: 0
	file = segment(file, 0xc4, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	// scan
	file = segment(file, 0xda, components, 1, 0, 2, 0, 3, 0, 0, 0, 0)
	file = append(file, make([]byte, edge/8*edge/8*components/8)...)
	return append(file, 0xff, 0xd9)
}

// gathering answers as the images API does, once all requests have arrived.
type gathering struct {
	wanted, n int
	picture   string // in base64

	mu      sync.Mutex
	arrived int
	all     chan struct{}
}

func (g *gathering) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	g.mu.Lock()
	if g.arrived++; g.arrived == g.wanted {
		close(g.all)
	}
	g.mu.Unlock()
	select {
	case <-g.all:
	case <-r.Context().Done():
		return
	}
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, `{"created": 1, "data": [`)
	for i := range g.n {
		if i > 0 {
			io.WriteString(w, ", ")
		}
		io.WriteString(w, `{"b64_json": "`)
		io.WriteString(w, g.picture)
		io.WriteString(w, `"}`)
	}
	io.WriteString(w, `]}`)
}
