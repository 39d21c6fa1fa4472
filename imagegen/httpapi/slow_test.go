package httpapi_test

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

// line is a connection to a service that runs on the test's clock.
type line struct {
	*testing.T
	is *is.I
	imagegentest.Running
	net.Conn
	r      *bufio.Reader
	key    string
	header string // that each request has more
	dial   func() net.Conn
}

func connect(t *testing.T, change ...func(*engine.Config)) *line {
	t.Helper()
	e := imagegentest.Start(t, change...)
	l := &line{T: t, is: is.New(t), Running: e, key: e.Key(t, imagegentest.Alice)}
	l.dial = imagegentest.Piped(t, httpapi.NewServer(httpapi.NewHandler(e.Engine, httpapi.Options{})))
	return l.another()
}

// another is one more connection to the service.
func (l *line) another() *line {
	more := *l
	more.Conn = l.dial()
	more.r = bufio.NewReader(more.Conn)
	return &more
}

func (l *line) say(format string, args ...any) {
	l.Helper()
	_, err := fmt.Fprintf(l.Conn, format, args...)
	l.is.NoErr(err)
}

// ask begins a request for images with a body of n bytes.
func (l *line) ask(contentType string, n int) {
	l.Helper()
	l.say("POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n%sContent-Type: %s\r\nContent-Length: %d\r\n\r\n",
		generations, l.key, l.header, contentType, n)
}

func (l *line) hear() (status int, body string) {
	l.Helper()
	a, err := http.ReadResponse(l.r, nil)
	l.is.NoErr(err)
	b, err := io.ReadAll(a.Body)
	l.is.NoErr(err)
	return a.StatusCode, string(b)
}

// untouched checks that nothing was charged or recorded, and that no upload is left.
func (l *line) untouched(spool *imagegentest.CountedSpool) {
	l.Helper()
	b, err := l.As(imagegentest.Alice).Balance(l.Context())
	l.is.NoErr(err)
	l.is.Equal(b.Credits, imagegen.Credits(100))
	p, err := l.As(imagegentest.Alice).Generations(l.Context(), imagegen.Query{})
	l.is.NoErr(err)
	l.is.Equal(len(p.Generations), 0)
	l.is.Equal(spool.Held(), 0)
}

// A call may last as long as the engine lets it, on a connection that was used before.
func TestLongCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := connect(t)
		for range 2 {
			body := `{"model":"fake-1","prompt":"[fake:delay=790s] a fox","size":"64x48"}`
			began := time.Now()
			l.ask("application/json", len(body))
			l.say("%s", body)
			status, answer := l.hear()
			l.is.Equal(status, http.StatusOK)
			l.is.True(strings.Contains(answer, `"succeeded"`))
			l.is.Equal(time.Since(began).Round(time.Second), 790*time.Second)
			time.Sleep(100 * time.Second) // between requests
		}
	})
}

// A body that stalls is refused, in either encoding.
func TestStalledBody(t *testing.T) {
	for _, contentType := range []string{"application/json", "multipart/form-data; boundary=b"} {
		t.Run(contentType, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var spool imagegentest.CountedSpool
				l := connect(t, spool.Watch)
				began := time.Now()
				l.ask(contentType, 1000)
				l.say("--b\r\nContent-Disposition: form-data; name=\"image\"; filename=\"a\"\r\n\r\n%s",
					picture(30, 30))
				status, answer := l.hear()
				l.is.Equal(status, http.StatusBadRequest)
				l.is.True(strings.Contains(answer, "too slowly"))
				l.is.Equal(time.Since(began).Round(time.Second), 30*time.Second)
				l.untouched(&spool)
			})
		})
	}
}

// A client that reads no answer before it has sent everything learns why its body was refused.
func TestRefusedWhileTheBodyComes(t *testing.T) {
	const length = 4 << 20
	unknown := "--b\r\nContent-Disposition: form-data; name=\"modle\"\r\n\r\nfake-1\r\n--b\r\n"
	rest := strings.Repeat(" ", length)
	for name, c := range map[string]struct {
		key, contentType, body string
		want                   int
	}{
		"an unknown field": {"", "multipart/form-data; boundary=b", unknown + rest, http.StatusBadRequest},
		"a long body":      {"", "application/json", rest, http.StatusBadRequest},
		"a wrong key":      {"img_live_wrong", "application/json", rest, http.StatusUnauthorized},
		"without an end":   {"", "multipart/form-data; boundary=b", unknown, http.StatusBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := connect(t)
				l.key = cmp.Or(c.key, l.key)
				began := time.Now()
				l.ask(c.contentType, length)
				sent := make(chan error, 1)
				go func() {
					_, err := io.WriteString(l.Conn, c.body[:min(len(c.body), length)])
					sent <- err
				}()
				status, _ := l.hear()
				l.is.Equal(status, c.want)
				l.is.NoErr(<-sent)
				_, err := l.r.ReadByte() // the connection ends: soon after the body, or after some patience
				l.is.Equal(err, io.EOF)
				l.is.True(time.Since(began) <= 11*time.Second)
			})
		})
	}
}

// A body that stalls is refused also where none is expected.
func TestStalledCancellation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := connect(t)
		began := time.Now()
		l.say("POST /api/v1/generations/gen_1/cancel HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer %s\r\nContent-Length: 2\r\n\r\n{", l.key)
		status, answer := l.hear()
		l.is.Equal(status, http.StatusBadRequest)
		l.is.True(strings.Contains(answer, "too slowly"))
		l.is.Equal(time.Since(began).Round(time.Second), 30*time.Second)
	})
}

// A caller who sends a byte now and then is refused as well; one who is slow but steady is not.
func TestSlowBody(t *testing.T) {
	for name, c := range map[string]struct {
		chunk, every int // bytes, seconds
		want         int
	}{
		"dripping": {1, 20, http.StatusBadRequest},
		"steady":   {20 * 9000, 20, http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var spool imagegentest.CountedSpool
				l := connect(t, spool.Watch)
				contentType, body := formOf(foxForm(part{name: "image", file: "a", value: picture(30, 30) +
					strings.Repeat("\x00", 2<<20)})...)
				l.ask(contentType, len(body))
				sent := make(chan struct{})
				go func() {
					defer close(sent)
					for len(body) > 0 {
						n := min(c.chunk, len(body))
						if _, err := io.WriteString(l.Conn, body[:n]); err != nil {
							return // refused
						}
						body = body[n:]
						time.Sleep(time.Duration(c.every) * time.Second)
					}
				}()
				status, _ := l.hear()
				l.is.Equal(status, c.want)
				<-sent
				if c.want != http.StatusOK {
					l.untouched(&spool)
				}
			})
		})
	}
}

// A header that does not end is cut off.
func TestSlowHeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := connect(t)
		began := time.Now()
		l.say("GET /healthz HTTP/1.1\r\n")
		_, err := l.r.ReadByte()
		l.is.True(err != nil)
		l.is.Equal(time.Since(began), 10*time.Second)
	})
}

// An answer that nobody takes does not hold a connection for ever.
func TestAnswerNobodyTakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := connect(t)
		began := time.Now()
		l.say("GET /api/v1/models HTTP/1.1\r\nHost: x\r\n\r\n")
		time.Sleep(time.Minute)
		_, err := io.ReadAll(l.r)
		l.is.NoErr(err)
		l.is.Equal(time.Since(began), time.Minute) // it was cut off before: there is nothing to wait for
	})
}

// A caller that hangs up before the charge, waiting for a slot, is charged nothing; the service
// notices while it waits.
func TestHangUpInTheQueue(t *testing.T) {
	for _, contentType := range []string{"application/json", "multipart/form-data"} {
		t.Run(contentType, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var spool imagegentest.CountedSpool
				l := connect(t, spool.Watch, func(c *engine.Config) { c.Limits.Concurrency = 1 })
				busy, leave := context.WithCancel(t.Context())
				defer leave()
				go l.As(imagegentest.Bob).Generate(busy, imagegen.GenerateRequest{Model: imagegentest.Model,
					Prompt: "[fake:delay=10s] a fox", Size: imagegen.Size{Width: 64, Height: 48}})
				synctest.Wait()
				body := fox("")
				if contentType != "application/json" {
					contentType, body = formOf(foxForm(part{name: "image", file: "a", value: picture(30, 30)})...)
				}
				l.ask(contentType, len(body))
				l.say("%s", body)
				synctest.Wait()
				l.is.NoErr(l.Conn.Close())
				time.Sleep(time.Minute)
				l.untouched(&spool)
			})
		})
	}
}
