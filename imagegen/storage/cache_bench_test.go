package storage_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

// BenchmarkUsersAndKeys measures what a poll of a generation costs where users and keys are kept in memory, and where
// each request reads them, without the network.
func BenchmarkUsersAndKeys(b *testing.B) {
	for _, c := range []struct {
		name  string
		reads bool
	}{{"kept", false}, {"read", true}} {
		b.Run(c.name, func(b *testing.B) {
			is, db := is.New(b), benchDB(b)
			if c.reads {
				db.KeepNothing()
			}
			e := imagegentest.StartOver(b, db)
			h := httpapi.NewHandler(e, httpapi.Options{Log: slog.New(slog.NewJSONHandler(io.Discard, nil))})
			made, err := e.As(imagegentest.Alice).Generate(b.Context(),
				imagegen.GenerateRequest{Model: imagegentest.Model, Prompt: "a fox"})
			is.NoErr(err)
			key, _, err := e.Accounts().MintKey(b.Context(), imagegentest.Alice, "", time.Time{})
			is.NoErr(err)
			r := httptest.NewRequest(http.MethodGet, "/api/v1/generations/"+string(made.ID), nil)
			r.Header.Set("Authorization", "Bearer "+key.Reveal())
			for b.Loop() {
				w := httptest.NewRecorder()
				h.ServeHTTP(w, r)
				if w.Code != http.StatusOK {
					b.Fatal(w.Code)
				}
			}
		})
	}
}
