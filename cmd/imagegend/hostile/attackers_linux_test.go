package hostile_test

import (
	"bytes"
	"compress/zlib"
	"context"
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
	"sync"
	"testing"
	"time"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// attack is one round of an attacker. It ends with the siege.
type attack func(ctx context.Context)

// attackers are who besieges the service. Each does all that one can who has got hold of its account.
func (s *siege) attackers() map[string]attack {
	_, poor := s.NewUser(0)
	_, crowd := s.NewUser(10_000)
	_, refused := s.NewUser(1)
	_, bomber := s.NewUser(10_000)
	return map[string]attack{
		"fills the disk":        s.many(8, func(ctx context.Context) { s.uploadMuch(ctx, poor) }),
		"fills the memory":      s.many(100, func(ctx context.Context) { s.holdMemory(ctx, poor) }),
		"fills the connections": s.many(300, s.idle),
		"fills the queue": s.many(8, s.repeated("fills the queue", crowd,
			map[string]any{"prompt": "[fake:delay=3s] a fox", "async": true})),
		"asks for many parts": s.many(4, s.manyRanges),
		"is refused": s.many(4, s.repeated("is refused", refused, map[string]any{"prompt": "[fake:refuse]" +
			strings.Repeat("狐", 31_000)})),
		"guesses passwords": s.many(4, s.guess),
		"has images that burst": s.many(4, s.repeated("has images that burst", bomber, map[string]any{"model": "bomb",
			"prompt": "a fox", "size": "1024x1024"})),
	}
}

// many has an attack made by so many at once.
func (s *siege) many(n int, a attack) attack {
	return func(ctx context.Context) {
		var all sync.WaitGroup
		for range n {
			all.Go(func() {
				for ctx.Err() == nil {
					a(ctx)
				}
			})
		}
		all.Wait()
	}
}

// repeated asks for the same images again and again.
func (s *siege) repeated(name, key string, fields map[string]any) attack {
	body := map[string]any{"model": "fake-1", "size": "48x32"}
	for k, v := range fields {
		body[k] = v
	}
	return func(ctx context.Context) { s.count(name)(s.Do(ctx, daemontest.Generate(key, body))) }
}

// count notes an answer; who is refused, or not even heard, rests for a moment.
func (s *siege) count(name string) func(daemontest.Answer, error) {
	return func(a daemontest.Answer, err error) {
		if err == nil {
			s.did[name].Add(1)
		}
		if err != nil || a.Status >= http.StatusBadRequest {
			time.Sleep(5 * time.Millisecond)
		}
	}
}

// uploadMuch sends a picture with 40 MiB behind its end, and then drips.
func (s *siege) uploadMuch(ctx context.Context, key string) {
	const size = 40 << 20
	_, body := form("")
	body = strings.TrimSuffix(body, "\r\n--b--\r\n")
	s.raw(ctx, "fills the disk", func(c net.Conn) {
		fmt.Fprintf(c,
			"POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: %d\r\n\r\n%s", generationsPath, key, len(body)+size, body)
		io.CopyN(c, zeros{}, size-1000) // an error: the daemon has heard enough
	})
}

// holdMemory begins a body of a megabyte, and a page that it does not read.
func (s *siege) holdMemory(ctx context.Context, key string) {
	s.raw(ctx, "fills the memory", func(c net.Conn) {
		fmt.Fprintf(c,
			"POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n{\"prompt\":\"%s",
			generationsPath, key, 1<<20, strings.Repeat("a", 1<<20-100))
	}, func(c net.Conn) {
		c.(*net.TCPConn).SetReadBuffer(4 << 10)
		fmt.Fprintf(c, "GET /api/v1/generations?limit=100 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n",
			s.long)
	})
}

func (s *siege) idle(ctx context.Context) { s.raw(ctx, "fills the connections", func(net.Conn) {}) }

// raw opens connections, calls a function with each, and holds them for two seconds.
func (s *siege) raw(ctx context.Context, name string, do ...func(net.Conn)) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	for _, do := range do {
		c, err := new(net.Dialer).DialContext(ctx, "tcp", strings.TrimPrefix(s.URL, "http://"))
		if err != nil {
			time.Sleep(5 * time.Millisecond)
			return
		}
		defer c.Close()
		c.SetDeadline(time.Now().Add(2 * time.Second))
		do(c)
		s.did[name].Add(1)
	}
	<-ctx.Done()
}

// manyRanges asks for thousands of parts of an image, without a key.
func (s *siege) manyRanges(ctx context.Context) {
	r := daemontest.Request{Path: s.image}.With("Range", "bytes=0-0"+strings.Repeat(",1-1", 7_000))
	s.count("asks for many parts")(s.Do(ctx, r))
}

// guess tries a password of an operator.
func (s *siege) guess(ctx context.Context) {
	form := url.Values{"name": {"operator"}, "password": {fmt.Sprint("guess ", time.Now().UnixNano())}}
	r := daemontest.Request{Method: http.MethodPost, Path: "/console/signin", Body: strings.NewReader(form.Encode())}
	s.count("guesses passwords")(s.Do(ctx, r.With("Content-Type", "application/x-www-form-urlencoded").With(
		"Sec-Fetch-Site", "same-origin")))
}

// longPrompts makes somebody with a hundred generations that failed, of the longest prompts.
func (s *siege) longPrompts() (key string) {
	_, key = s.NewUser(100)
	prompt := "[fake:fail]" + strings.Repeat("狐", 31_900)
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			for range 10 {
				s.ask(daemontest.Generate(key, map[string]any{"model": "fake-1", "prompt": prompt, "size": "48x32"}))
			}
		})
	}
	all.Wait()
	return key
}

// bombingModels lists, beside the fake one, a model whose upstream answers each request with 67 million pixels
// in 66 KiB.
func bombingModels(t *testing.T) (file string) {
	bomb := base64.StdEncoding.EncodeToString(blank(8192))
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"images":["%s"]}`, bomb)
	}))
	t.Cleanup(upstream.Close)
	file = filepath.Join(t.TempDir(), "models.yaml")
	text := "models:\n" +
		"  - {id: fake-1, provider: {type: fake}, credits: {1K: 1}}\n" +
		"  - {id: bomb, provider: {type: sdwebui, base_url: " + upstream.URL + "}, credits: {1K: 1}}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// blank is a PNG of n × n black pixels, of one byte each, made without drawing them.
func blank(n uint32) []byte {
	var data bytes.Buffer
	w := zlib.NewWriter(&data)
	io.CopyN(w, zeros{}, int64(n)*(int64(n)+1)) // each row begins with its filter: none
	w.Close()
	ihdr := append(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32([]byte("IHDR"), n), n), 8, 0, 0, 0, 0)
	image := []byte("\x89PNG\r\n\x1a\n")
	for _, chunk := range [][]byte{ihdr, append([]byte("IDAT"), data.Bytes()...), []byte("IEND")} {
		image = binary.BigEndian.AppendUint32(image, uint32(len(chunk)-4))
		image = binary.BigEndian.AppendUint32(append(image, chunk...), crc32.ChecksumIEEE(chunk))
	}
	return image
}
