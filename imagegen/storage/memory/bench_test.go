package memory_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
)

const user = imagegen.UserID("alice")

func funded(b *testing.B) *memory.DB {
	db := memory.New(nil)
	if _, err := db.Grant(b.Context(), imagegen.Grant{User: user, Credits: imagegen.MaxCredits}); err != nil {
		b.Fatal(err)
	}
	return db
}

// generate is what a synchronous generation commits.
func generate(b *testing.B, db *memory.DB, n int) {
	r := imagegen.Record{
		Intent: imagegen.Intent{ID: imagegen.GenerationID(fmt.Sprintf("gen_%026d", n)), User: user, Model: "fake-1",
			Prompt: "a fox in the snow", N: 1, Price: 1, Ratio: "1:1", Tier: "1K", CreatedAt: time.Unix(int64(n)+1, 0)},
		Progress: imagegen.Progress{State: imagegen.StateCharging, Attempt: 1},
	}
	r, err := db.CreateCharged(b.Context(), r, time.Minute)
	if err != nil {
		b.Fatal(err)
	}
	image := imagegen.StoredImage{ID: imagegen.ImageID(fmt.Sprintf("image_%026d%026d", n, 1)), Attempt: 1,
		MediaType: "image/png", Width: 1024, Height: 1024, Size: 1 << 20, CreatedAt: r.CreatedAt}
	o := imagegen.Outcome{Images: []imagegen.StoredImage{image}, At: r.CreatedAt, AccountType: "FREE"}
	if _, err := db.FinishSettled(b.Context(), r.Fence(), o); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkGenerate(b *testing.B) {
	db := funded(b)
	n := 0
	for b.Loop() {
		n++
		generate(b, db, n)
	}
}

// A page costs the same however many generations there are.
func BenchmarkPage(b *testing.B) {
	for _, there := range []int{20, 100_000} {
		db := funded(b)
		for n := range there {
			generate(b, db, n)
		}
		for _, status := range []imagegen.Status{"", imagegen.StatusSucceeded} {
			b.Run(fmt.Sprintf("%d/%s", there, status), func(b *testing.B) {
				for b.Loop() {
					records, _, err := db.Generations(b.Context(), user, imagegen.Query{Status: status})
					if err != nil || len(records) != imagegen.DefaultPageSize {
						b.Fatal(len(records), err)
					}
				}
			})
		}
	}
}
