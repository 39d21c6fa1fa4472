package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen/httpapi"
)

type watched struct{}

// watcher writes down each call.
type watcher struct {
	mu    sync.Mutex
	lines []string
}

func (w *watcher) Begin(r *http.Request) context.Context {
	return context.WithValue(r.Context(), watched{}, "seen")
}

func (w *watcher) End(ctx context.Context, a httpapi.Answer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, fmt.Sprintf("%v %s %q %d %v", ctx.Value(watched{}), a.Method, a.Route, a.Status,
		a.Duration > 0))
}

// A watcher gets requests by the patterns of their routes, never by what a caller chose.
func TestWatch(t *testing.T) {
	is := is.New(t)
	s := serve(t, httpapi.Options{})
	var within context.Context
	mux := http.NewServeMux()
	mux.Handle("/", s.server.Config.Handler)
	mux.Handle("/other/", httpapi.WithRoute("/other/", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		within = r.Context()
	})))
	mux.Handle("/panics", httpapi.WithRoute("/panics", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		panic(http.ErrAbortHandler)
	})))
	w := new(watcher)
	h := httpapi.Watch(mux, w)
	for _, ask := range [][2]string{{"GET", "/api/v1/models"}, {"GET", "/api/v1/generations/gen_secret"},
		{"HEAD", "/images/image_secret"}, {"BREW", "/api/v1/models"}, {"GET", "/nowhere"}, {"GET", "/other/x"},
		{"GET", "/panics"}} {
		func() {
			defer func() { recover() }()
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(ask[0], ask[1], nil))
		}()
	}
	is.Equal(cmp.Diff([]string{
		`seen GET "/api/v1/models" 200 true`,
		`seen GET "/api/v1/generations/:id" 401 true`,
		`seen HEAD "/images/:id" 404 true`,
		`seen other "" 405 true`,
		`seen GET "" 404 true`,
		`seen GET "/other/" 200 true`,
		`seen GET "/panics" 0 true`,
	}, w.lines), "")
	is.Equal(within.Value(watched{}), "seen")
}
