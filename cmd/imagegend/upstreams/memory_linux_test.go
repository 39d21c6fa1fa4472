package upstreams_test

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
	"strconv"
	"sync"
	"syscall"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

const (
	inFlight   = 32
	perRequest = 4
	edge       = 2880
	mostMemory = 300 << 20
	diskNeeded = 8 << 30
)

// 32 generations of four images of 25 MB are in flight at once. The daemon takes less than 300 MiB,
// at its peak, for everything.
func TestMemoryWithLargeImages(t *testing.T) {
	if testing.Short() {
		t.Skip("it moves 4 GB")
	}
	is := is.New(t)
	dir := t.TempDir()
	needDisk(t, dir)
	picture := noise(t)
	upstream := httptest.NewServer(&gathering{picture: base64.StdEncoding.EncodeToString(picture), all: make(chan struct{})})
	defer upstream.Close()
	models := modelsFile(t, map[string]string{"large": fmt.Sprintf("{type: openai, base_url: %s/v1, private: true}", upstream.URL)}, nil)
	d := daemontest.Start(t, daemontest.Options{DataDir: dir, Args: []string{"--models", models, "--concurrency", strconv.Itoa(inFlight)}})
	_, key := d.NewUser(inFlight * perRequest)
	t.Logf("%d MiB resident at rest", d.RSS()>>20)

	var callers sync.WaitGroup
	for range inFlight {
		callers.Go(func() {
			request := daemontest.Generate(key, map[string]any{"model": "large", "prompt": "noise", "n": perRequest, "quality": "high"})
			answer, err := d.Do(t.Context(), request)
			if n := bytes.Count(answer.Body, []byte(`"width":2880`)); err != nil || answer.Status != http.StatusOK || n != perRequest {
				t.Errorf("status %d with %d images: %.300s: %v", answer.Status, n, answer.Body, err)
			}
		})
	}
	callers.Wait()
	t.Logf("%d MiB resident at most, with %d images of %d MB", d.RSS()>>20, inFlight*perRequest, len(picture)/1e6)
	is.True(d.RSS() < mostMemory)
	is.Equal(balance(t, d, key), 0)
}

// noise is a picture that cannot be compressed, of tier 4K.
func noise(t *testing.T) []byte {
	t.Helper()
	picture := image.NewNRGBA(image.Rect(0, 0, edge, edge))
	rand.NewChaCha8([32]byte{}).Read(picture.Pix)
	for i := 3; i < len(picture.Pix); i += 4 {
		picture.Pix[i] = 0xff
	}
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.NoCompression}
	if err := encoder.Encode(&b, picture); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// gathering answers as the images API does, once all requests have arrived.
type gathering struct {
	picture string // in base64

	mu      sync.Mutex
	arrived int
	all     chan struct{}
}

func (g *gathering) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	g.mu.Lock()
	if g.arrived++; g.arrived == inFlight {
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
	for i := range perRequest {
		if i > 0 {
			io.WriteString(w, ", ")
		}
		io.WriteString(w, `{"b64_json": "`)
		io.WriteString(w, g.picture)
		io.WriteString(w, `"}`)
	}
	io.WriteString(w, `]}`)
}

func needDisk(t *testing.T, dir string) {
	t.Helper()
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil {
		t.Fatal(err)
	}
	if free := disk.Bavail * uint64(disk.Bsize); free < diskNeeded {
		t.Fatalf("the test needs %d GB in %s, where %d MB are free; set TMPDIR to a larger disk", diskNeeded>>30, dir, free>>20)
	}
}
