package cli_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi"
)

// A connection that breaks after the work was done costs no second charge.
func TestGenerateIsChargedOnce(t *testing.T) {
	is := is.New(t)
	t.Chdir(t.TempDir())
	service, user, key := newEngine(t)
	handler := httpapi.NewHandler(service, httpapi.Options{})
	var posts atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && posts.Add(1) == 1 {
			handler.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler) // the answer is lost
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)

	env := map[string]string{"IMAGEGEND_URL": server.URL, "IMAGEGEND_API_KEY": key}
	got := imagegend(t, env, "generate", "a fox", "--size", "64x64", "-o", "fox.png")
	is.Equal(got.stderr, "1 credit, 9 left\n")
	is.Equal(got.code, 0)
	is.Equal(posts.Load(), int32(2))
	_, err := os.Stat("fox.png")
	is.NoErr(err)
	b, err := service.As(user).Balance(t.Context())
	is.NoErr(err)
	is.Equal(b.Credits, imagegen.Credits(9))
}
