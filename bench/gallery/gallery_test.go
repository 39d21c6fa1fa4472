// Package gallery measures the console's pages of many generations.
package gallery

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/storage"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
)

var many = flag.Int("generations", 100_000, "how many `generations` the gallery of BenchmarkGallery has")

const (
	busy   = imagegen.UserID("busy")
	signed = "busy's sign-in"
)

// galleryStore is what a console stands on.
type galleryStore interface {
	imagegen.TxStore
	imagegen.CreditAdmin
	account.LoginStore
}

// A page of the gallery costs the same however many generations there are, whatever is sought in them:
//
//	go test ./bench/gallery -run xxx -bench Gallery -benchtime 200x -timeout 0 -generations 1000000
func BenchmarkGallery(b *testing.B) {
	db, err := storage.Open(b.TempDir(), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	began := time.Now().Add(-365 * 24 * time.Hour)
	fill(b, db, began, *many)
	pages(b, db, began)
}

// pages measures the pages of a gallery over a store that was filled for a year.
func pages(b *testing.B, db galleryStore, began time.Time) {
	b.Helper()
	c := gallery(b, db)
	day := func(d time.Duration) string { return began.Add(d).Format(time.DateOnly) }
	for name, query := range map[string]string{
		"newest":         "",
		"amid":           "?after=" + string(imagegen.FirstGenerationID(began.Add(4000*time.Hour))),
		"found-often":    "?q=fox",
		"found-never":    "?q=zebra",
		"found-nowhere":  "?q=zebra&model=m-2&status=succeeded",
		"one-day":        "?from=" + day(960*time.Hour) + "&to=" + day(960*time.Hour),
		"word-of-a-day":  "?q=zebra&to=" + day(960*time.Hour),
		"favourites":     "?favourites=yes",
		"one-favourite":  "?favourites=yes&q=zebra",
		"status-failed":  "?status=failed",
		"model-of-a-few": "?model=m-2",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				r := httptest.NewRequestWithContext(b.Context(), http.MethodGet,
					"http://console.test/console/generations"+query, nil)
				r.AddCookie(&http.Cookie{Name: "imagegen", Value: signed})
				w := httptest.NewRecorder()
				c.ServeHTTP(w, r)
				if w.Code != http.StatusOK {
					b.Fatal(w.Code, w.Body)
				}
			}
		})
	}
}

// gallery is a console over a store, in which its user is signed in.
func gallery(b *testing.B, db galleryStore) *console.Console {
	b.Helper()
	images := memory.New(nil) // no page of the gallery reads one
	models := []engine.Model{{ID: "m-1", Provider: &provider.Fake{},
		Credits: map[imagegen.Tier]imagegen.Credits{"1K": 1}}}
	e, err := engine.New(engine.Config{Store: db, Ledger: db, Images: images, Spool: images, Models: models})
	if err != nil {
		b.Fatal(err)
	}
	c, err := console.New(console.Config{Engine: e, Ledger: db, Logins: db})
	if err != nil {
		b.Fatal(err)
	}
	now := time.Now()
	later := now.Add(time.Minute) // a sign-in from before the password was set would not count
	for _, err := range []error{
		db.CreateUser(b.Context(), imagegen.User{ID: busy, Name: "busy", CreatedAt: now}),
		console.SetPassword(b.Context(), db, busy, account.RoleUser, "correct horse battery staple"),
		db.CreateSignIn(b.Context(), account.SignIn{Hash: sha256.Sum256([]byte(signed)), User: busy, CreatedAt: later,
			SeenAt: later}),
	} {
		if err != nil {
			b.Fatal(err)
		}
	}
	return c
}

// fill writes n generations of one user over a year. Of a thousand the last is a favourite, and of a model of its own.
func fill(b *testing.B, db galleryStore, began time.Time, n int) {
	b.Helper()
	if _, err := db.Grant(b.Context(), imagegen.Grant{User: busy, Credits: imagegen.Credits(n)}); err != nil {
		b.Fatal(err)
	}
	const writers = 2048 // share commits
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := w; i < n; i += writers {
				if err := write(b, db, began.Add(time.Duration(i)*365*24*time.Hour/time.Duration(n)), i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
}

// write writes the result of one generation: an image, and of each tenth none.
func write(b *testing.B, db galleryStore, at time.Time, i int) error {
	r := imagegen.Record{
		Intent: imagegen.Intent{ID: imagegen.NewIDs().Generation(at), User: busy, Model: "m-1", Prompt: longPrompt(i),
			N: 1, Price: 1, Ratio: "1:1", Tier: "1K", CreatedAt: at},
		Progress: imagegen.Progress{State: imagegen.StateCharging, Attempt: 1},
	}
	if i%1000 == 999 {
		r.Model = "m-2"
	}
	r, err := db.CreateCharged(b.Context(), r, time.Minute)
	if err != nil {
		return err
	}
	o := imagegen.OutcomeChange{At: at, Failure: &imagegen.Failure{Class: imagegen.ClassRefused}}
	if i%10 > 0 {
		o = imagegen.OutcomeChange{At: at, Images: []imagegen.StoredImage{{ID: imagegen.NewImageID(r.ID), Attempt: 1,
			MediaType: "image/png", Width: 1024, Height: 1024, Size: 1 << 20, CreatedAt: at}}}
	}
	r, err = db.FinishSettled(b.Context(), r.Fence(), o)
	if err == nil && i%1000 == 999 {
		_, err = db.Update(b.Context(), r.Fence(), imagegen.FavouriteChange{Favourite: true})
	}
	return err
}

// longPrompt is a prompt of some 150 bytes, always the same of a number.
func longPrompt(i int) string {
	vocabulary := strings.Fields("a red grey fox hare owl heron lighthouse harbour in above under fresh snow rain fog early late morning evening light oil ink watercolour woodcut photograph of the old town river meadow forest")
	random := rand.New(rand.NewPCG(7, uint64(i)))
	prompt := fmt.Sprint("No. ", i)
	for range 25 {
		prompt += " " + vocabulary[random.IntN(len(vocabulary))]
	}
	return prompt
}
