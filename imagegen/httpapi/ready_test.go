package httpapi_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi"
)

// As soon as draining begins the service takes no work, and goes on to show what there is.
func TestDraining(t *testing.T) {
	held := hold()
	s := serve(t, httpapi.Options{}, withProvider(held))
	running := s.accepted(s.post(fox(`,"async":true`)), http.StatusAccepted)
	<-held.called // claimed alone, it would go back to the queue
	stopped := make(chan error, 1)
	go func() { stopped <- s.Stop(context.Background()) }()
	s.until(func() bool { return s.do("GET", "/readyz", "").StatusCode != http.StatusOK })
	a := s.do("GET", "/readyz", "")
	s.is.Equal(a.StatusCode, http.StatusServiceUnavailable)
	s.bodyIs(a, `{"ready":false}`)
	s.is.True(a.Header.Get("Retry-After") != "")
	s.is.Equal(s.do("GET", "/healthz", "").StatusCode, http.StatusOK)
	for _, more := range []string{"", `,"async":true`} {
		a := s.post(fox(more), "Idempotency-Key", "k")
		s.refused(a, http.StatusServiceUnavailable, imagegen.CodeOverloaded)
		s.is.True(a.Header.Get("Retry-After") != "")
		s.is.Equal(a.Header.Get("X-Should-Retry"), "") // by all means
	}
	a = s.postForm(foxForm(part{name: "image", file: "a.png", value: picture(30, 30)})...)
	s.refused(a, http.StatusServiceUnavailable, imagegen.CodeOverloaded)
	s.is.Equal(s.do("GET", s.path(running.PollURL), "").StatusCode, http.StatusOK)
	s.is.Equal(s.do("GET", "/api/v1/models", "").StatusCode, http.StatusOK)
	close(held.release)
	s.is.NoErr(<-stopped)
	s.is.Equal(s.accepted(s.do("GET", s.path(running.PollURL), ""), 200).Status, "failed")
}
