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

// A claim costs the same however many users wait.
func BenchmarkClaim(b *testing.B) {
	for _, users := range []int{10, 10_000} {
		b.Run(fmt.Sprint("users=", users), func(b *testing.B) {
			db := memory.New(nil)
			for n := range users {
				queue(b, db, n)
			}
			held := map[imagegen.UserID]int{}
			for n := range 15 {
				held[imagegen.UserID(fmt.Sprint("user", n))] = 1
			}
			for b.Loop() {
				rs, _, err := db.Claim(b.Context(), imagegen.Demand{Most: 1, Lease: time.Minute, Held: held})
				if err != nil || len(rs) != 1 {
					b.Fatal(len(rs), err)
				}
				if _, err := db.Update(b.Context(), rs[0].Fence(), imagegen.Release{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// queue queues work of a user of its own.
func queue(b *testing.B, db *memory.DB, n int) {
	r := imagegen.Record{
		Intent: imagegen.Intent{ID: imagegen.GenerationID(fmt.Sprintf("gen_%026d", n)), User: imagegen.UserID(fmt.Sprint("user", n)), Model: "fake-1",
			Prompt: "a fox in the snow", N: 1, Price: 1, Ratio: "1:1", Tier: "1K", Async: true, CreatedAt: time.Unix(int64(n)+1, 0)},
		Progress: imagegen.Progress{State: imagegen.StateCharging},
	}
	r, err := db.Create(b.Context(), r, time.Minute)
	if err == nil {
		_, err = db.Update(b.Context(), r.Fence(), imagegen.Accept{})
	}
	if err != nil {
		b.Fatal(err)
	}
}
