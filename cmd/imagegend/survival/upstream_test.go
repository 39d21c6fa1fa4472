package survival_test

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// heavyUpstream answers as OpenAI does, with images of 2 MB, once all calls have arrived: then one after another.
type heavyUpstream struct {
	models string // a file with the model heavy
	answer []byte
	calls  int

	mu    sync.Mutex
	asked map[string]int // how often, by prompt
	all   chan struct{}  // closed when all calls have arrived
}

// apart is the time between two of its answers.
const apart = 50 * time.Millisecond

func newHeavyUpstream(t *testing.T, calls, images int) *heavyUpstream {
	t.Helper()
	u := &heavyUpstream{models: filepath.Join(t.TempDir(), "models.yaml"), calls: calls, asked: map[string]int{},
		all: make(chan struct{})}
	var err error
	u.answer, err = json.Marshal(map[string]any{"data": heavyImages(images)})
	check(t, err)
	server := httptest.NewServer(u)
	t.Cleanup(server.Close)
	check(t, os.WriteFile(u.models,
		[]byte("models: [{id: heavy, credits: {1K: 1}, provider: {type: openai, private: true, sizes: [832x832], base_url: "+
			server.URL+"/v1}}]\n"), 0o600))
	return u
}

// heavyImages are so many images as they stand in an answer.
func heavyImages(images int) (all []map[string][]byte) {
	m := image.NewNRGBA(image.Rect(0, 0, 832, 832))
	rand.NewChaCha8([32]byte{}).Read(m.Pix)
	for i := 3; i < len(m.Pix); i += 4 {
		m.Pix[i] = 0xff
	}
	var b bytes.Buffer
	(&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&b, m) // a buffer takes all
	for range images {
		all = append(all, map[string][]byte{"b64_json": b.Bytes()})
	}
	return all
}

func (u *heavyUpstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q struct{ Prompt string }
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	u.mu.Lock()
	u.asked[q.Prompt]++
	number := len(u.asked)
	if number == u.calls && u.asked[q.Prompt] == 1 {
		close(u.all)
	}
	u.mu.Unlock()
	select {
	case <-u.all:
	case <-r.Context().Done():
		return
	}
	<-time.After(time.Duration(number) * apart)
	w.Header().Set("Content-Type", "application/json")
	w.Write(u.answer)
}

// allAsked reports whether all calls have arrived.
func (u *heavyUpstream) allAsked() bool {
	select {
	case <-u.all:
		return true
	default:
		return false
	}
}
