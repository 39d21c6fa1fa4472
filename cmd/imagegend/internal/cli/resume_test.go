package cli_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
)

// A connection that breaks after the work was done costs no second charge.
func TestGenerateIsChargedOnce(t *testing.T) {
	is := is.New(t)
	t.Chdir(t.TempDir())
	db := memory.New(nil)
	engine, err := imagegen.New(imagegen.Config{Store: db, Ledger: db, Models: []imagegen.Model{
		{ID: "fake-1", Provider: &provider.Fake{}, Credits: map[imagegen.Tier]imagegen.Credits{"1K": 1}},
	}})
	is.NoErr(err)
	is.NoErr(engine.Start(t.Context()))
	t.Cleanup(func() { engine.Stop(context.Background()) })
	u, err := engine.Accounts().CreateUser(t.Context(), "alice", "")
	is.NoErr(err)
	_, err = db.Grant(t.Context(), imagegen.Grant{User: u.ID, Credits: 10})
	is.NoErr(err)
	key, _, err := engine.Accounts().MintKey(t.Context(), u.ID, "k", time.Time{})
	is.NoErr(err)

	handler := httpapi.NewHandler(engine, httpapi.Options{})
	var posts atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && posts.Add(1) == 1 {
			handler.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler) // the answer is lost
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)

	env := map[string]string{"IMAGEGEND_URL": server.URL, "IMAGEGEND_API_KEY": key.Reveal()}
	got := imagegend(t, env, "generate", "a fox", "--size", "64x64", "-o", "fox.png")
	is.Equal(got.stderr, "1 credit, 9 left\n")
	is.Equal(got.code, 0)
	is.Equal(posts.Load(), int32(2))
	_, err = os.Stat("fox.png")
	is.NoErr(err)
	b, err := engine.As(u.ID).Balance(t.Context())
	is.NoErr(err)
	is.Equal(b.Credits, imagegen.Credits(9))
}
