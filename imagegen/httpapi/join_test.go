package httpapi_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/provider"
)

// abandon asks for images and hangs up once they are under way.
func (s *site) abandon(body string, header ...string) {
	s.Helper()
	ctx, hangUp := context.WithCancel(s.Context())
	defer hangUp()
	status := s.postMeanwhile(ctx, body, header...)
	s.until(func() bool { return strings.Contains(s.do("GET", "/api/v1/generations", "").body, `"processing"`) })
	hangUp()
	s.is.Equal(<-status, 0)
}

const slowFox = `{"model":"fake-1","prompt":"[fake:delay=600ms] a fox","size":"64x48"}`

// OpenAI's clients repeat a call that took too long, with nothing but a count.
func TestARepeatedCallJoinsTheFirst(t *testing.T) {
	s := serve(t, httpapi.Options{}, withProvider(&provider.Fake{}))
	s.abandon(slowFox)
	a := s.post(slowFox, "X-Stainless-Retry-Count", "1")
	g := s.accepted(a, http.StatusOK)
	s.is.Equal(a.Header.Get("Idempotent-Replayed"), "true")
	s.is.Equal(a.Header.Get("Location"), g.PollURL)
	s.is.Equal(len(g.Images), 1)
	s.is.True(strings.Contains(s.do("GET", "/api/v1/credits", "").body, `"credits":99`))

	s.is.Equal(s.post(slowFox).Header.Get("Idempotent-Replayed"), "") // the answer was received
	s.is.True(strings.Contains(s.do("GET", "/api/v1/credits", "").body, `"credits":98`))
}

func TestACallOfAnotherUserOfTheKeyDoesNotJoin(t *testing.T) {
	s := serve(t, httpapi.Options{}, withProvider(&provider.Fake{}))
	of := func(user string) string { return strings.Replace(slowFox, "{", `{"user":"`+user+`",`, 1) }
	s.abandon(of("u1"))
	s.is.Equal(s.post(of("u2")).Header.Get("Idempotent-Replayed"), "")
	s.is.Equal(s.post(of("u1")).Header.Get("Idempotent-Replayed"), "true")
}

// Whoever reads no answer has not received it, though the service has written it.
func TestAnAnswerThatCannotBeWrittenIsJoined(t *testing.T) {
	s := serve(t, httpapi.Options{}, withProvider(&provider.Fake{}))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, generations, strings.NewReader(fox("")))
	s.is.NoErr(err)
	r.Header = http.Header{"Authorization": {"Bearer " + s.key}, "Content-Type": {"application/json"}}
	r.Host = "images.example"
	s.server.Config.Handler.ServeHTTP(&deaf{header: http.Header{}}, r)
	a := s.post(fox(""))
	s.is.Equal(a.Header.Get("Idempotent-Replayed"), "true")
	s.is.True(strings.Contains(s.do("GET", "/api/v1/credits", "").body, `"credits":99`))
}

// deaf is a connection that takes the header, and breaks before the last byte.
type deaf struct {
	header http.Header
	status int
}

func (d *deaf) Header() http.Header              { return d.header }
func (d *deaf) WriteHeader(status int)           { d.status = status }
func (d *deaf) Write(p []byte) (int, error)      { return len(p) / 2, http.ErrHandlerTimeout }
func (d *deaf) FlushError() error                { return nil }
func (d *deaf) SetReadDeadline(time.Time) error  { return nil }
func (d *deaf) SetWriteDeadline(time.Time) error { return nil }
