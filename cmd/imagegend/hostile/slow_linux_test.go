package hostile_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// Clients that send their header byte by byte, or nothing at all, are cut off after ten seconds;
// others are served meanwhile.
func TestSlowHeaders(t *testing.T) {
	t.Parallel()
	const clients = 200
	h := open(t)
	began := time.Now()
	lines := make([]net.Conn, clients)
	for i := range lines {
		c, err := h.dial()
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		lines[i] = c
	}
	sent := "GET /healthz HTTP/1.1\r\nHost: " + strings.Repeat("x", 100)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for second := range 8 {
		for i, c := range lines {
			if i%2 == 0 {
				io.WriteString(c, sent[second:second+1]) // an error shows below
			}
		}
		h.buy(small(h.key))
		<-tick.C
	}
	for i, c := range lines {
		answer, err := io.ReadAll(c)
		if took := time.Since(began); err != nil && took > 15*time.Second || took < 8*time.Second ||
			bytes.Contains(answer, []byte(" 200 ")) {
			t.Fatalf("connection %d ended after %v with %q and %v", i, took, answer, err)
		}
	}
	t.Logf("proof hostile: slow_headers=%d cut_off_after=%v", clients, time.Since(began).Round(100*time.Millisecond))
	h.unharmed()
}

// Clients that send their body byte by byte, or stop within it, are refused after thirty seconds,
// and charged nothing; what they uploaded is gone. The same stands in package httpapi, in no time.
func TestSlowBodies(t *testing.T) {
	t.Parallel()
	h := open(t)
	contentType, upload := form("")
	upload = strings.Replace(upload, "IEND", "IEND"+strings.Repeat("x", 100_000), 1)
	head := h.head(fmt.Sprintf("Content-Type: %s\r\nContent-Length: %d\r\n", contentType, len(upload)))
	t.Run("clients", func(t *testing.T) {
		for name, drips := range map[string]bool{"stalls": false, "drips": true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				h.in(t).sendSlowly(head+upload[:50_000], upload[50_000:], drips)
			})
		}
	})
	h.unharmed()
}

// sendSlowly sends a part of a request at once and the rest, if at all, at a byte a second.
func (h *target) sendSlowly(first, rest string, drips bool) {
	c, err := h.dial()
	if err != nil {
		h.t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Minute))
	io.WriteString(c, first) // an error shows below
	daemontest.EventuallyOr(h.t, 10*time.Second, func() bool {
		return len(daemontest.Leftovers(h.t, h.dirs...)) > len(h.files)
	}, func() string { return "no upload began" })
	over := make(chan struct{})
	go func() {
		defer close(over)
		for i := 0; drips; i++ {
			if _, err := io.WriteString(c, rest[i:i+1]); err != nil {
				return
			}
			time.Sleep(time.Second)
		}
	}()
	began := time.Now()
	answer, _ := io.ReadAll(c) // an error where it still sends
	if took := time.Since(began); !bytes.Contains(answer, []byte(" 400 ")) ||
		!bytes.Contains(answer, []byte("too slowly")) || took < 25*time.Second {
		h.t.Errorf("after %v: %q", took, answer)
	}
	c.Close()
	<-over
}

// Clients that take an image of 128 MB byte by byte hold neither it nor anybody up.
func TestSlowReaders(t *testing.T) {
	const readers, size, most = 100, 128 << 20, 32 << 20
	h, image := openWithImage(t, size)
	before := h.RSS()
	slow := make([]net.Conn, readers)
	for i := range slow {
		c, err := h.dial()
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		slow[i] = c
		fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", image) // an error shows below
	}
	for _, c := range slow {
		if _, err := io.ReadFull(c, make([]byte, 400)); err != nil {
			t.Fatal(err)
		}
	}
	h.buy(small(h.key))
	began := time.Now()
	whole := h.download(image)
	took, grown := time.Since(began), h.RSS()-before
	if whole != size {
		t.Errorf("another client got %d bytes", whole)
	}
	if grown > most {
		t.Errorf("%d slow readers cost %d bytes of memory", readers, grown)
	}
	t.Logf("proof hostile: slow_readers=%d megabytes=%d grown_kilobytes=%d whole_meanwhile=%v", readers, size>>20,
		grown>>10, took.Round(time.Millisecond))
	for _, c := range slow {
		c.Close()
	}
	h.unharmed()
}

// openWithImage opens a target with an image of so many bytes, and returns its path.
func openWithImage(t *testing.T, size int64) (h *target, image string) {
	t.Helper()
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"images":["`)
		e := base64.NewEncoder(base64.StdEncoding, w)
		writeLarge(e, size)
		e.Close()
		io.WriteString(w, `"]}`)
	}))
	t.Cleanup(upstream.Close)
	models := filepath.Join(t.TempDir(), "models.yaml")
	text := "models:\n" +
		"  - {id: fake-1, provider: {type: fake}, credits: {1K: 1}}\n" +
		"  - {id: large, provider: {type: sdwebui, base_url: " + upstream.URL + "}, metadata: keep, credits: {1K: 1}}\n"
	if err := os.WriteFile(models, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	h = open(t, "--models", models)
	h.buy(daemontest.Generate(h.key, map[string]any{"model": "large", "prompt": "a fox"}))
	h.descriptors = h.OpenFiles() // with the connection to the upstream, which is kept for a while
	u, err := url.Parse(h.MustGenerations(h.t, h.key, "")[0].Images[0].URL)
	if err != nil {
		t.Fatal(err)
	}
	return h, u.Path
}

// writeLarge writes the reference with a chunk of zeros before its end, so that it has that many bytes.
func writeLarge(w io.Writer, size int64) {
	const overhead = 12 // of a chunk; of IEND, which holds nothing, all
	end := len(reference) - overhead
	zeroes := size - int64(len(reference)) - overhead
	sum := crc32.NewIEEE()
	w.Write(reference[:end])
	w.Write(binary.BigEndian.AppendUint32(nil, uint32(zeroes)))
	io.WriteString(io.MultiWriter(w, sum), "zeRo")
	io.CopyN(io.MultiWriter(w, sum), zeros{}, zeroes)
	w.Write(sum.Sum(nil))
	w.Write(reference[end:])
}

// download returns how many bytes an address has.
func (h *target) download(path string) int64 {
	h.t.Helper()
	a, err := http.Get(h.URL + path)
	if err != nil {
		h.t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer a.Body.Close()
	n, err := io.Copy(io.Discard, a.Body)
	if err != nil || a.StatusCode != http.StatusOK {
		h.t.Fatal(a.Status, err)
	}
	return n
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
