package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/provider"
)

// A caller who does not read the answer has not received it, though the service has written it.
func TestAnAnswerThatCannotBeWrittenIsJoined(t *testing.T) {
	s := serve(t, httpapi.Options{}, withProvider(&provider.Fake{}))
	s.server.Config.Handler.ServeHTTP(&deaf{header: http.Header{}}, s.request(http.MethodPost, generations,
		strings.NewReader(fox(""))))
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
