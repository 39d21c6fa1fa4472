package tables_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv/kvtest"
)

func funded(b *testing.B) *db {
	d := open(b, kvtest.New())
	if _, err := d.Grant(b.Context(), imagegen.Grant{User: "alice", Credits: imagegen.MaxCredits}); err != nil {
		b.Fatal(err)
	}
	return d
}

// generate is what a synchronous generation commits.
func generate(b *testing.B, d *db, n int) {
	r := imagegen.Record{
		Intent: imagegen.Intent{ID: imagegen.GenerationID(fmt.Sprintf("gen_%026d", n)), User: "alice", Model: "fake-1",
			Prompt: "a fox in the snow", N: 1, Price: 1, Ratio: "1:1", Tier: "1K", CreatedAt: time.Unix(int64(n)+1, 0)},
		Progress: imagegen.Progress{State: imagegen.StateCharging, Attempt: 1},
	}
	r, err := d.CreateCharged(b.Context(), r, time.Minute)
	if err != nil {
		b.Fatal(err)
	}
	image := imagegen.StoredImage{ID: imagegen.ImageID(fmt.Sprintf("image_%026d%026d", n, 1)), Attempt: 1,
		MediaType: "image/png", Width: 1024, Height: 1024, Size: 1 << 20, CreatedAt: r.CreatedAt}
	o := imagegen.OutcomeChange{Images: []imagegen.StoredImage{image}, At: r.CreatedAt, AccountType: "FREE"}
	if _, err := d.FinishSettled(b.Context(), r.Fence(), o); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkGenerate(b *testing.B) {
	d := funded(b)
	n := 0
	for b.Loop() {
		n++
		generate(b, d, n)
	}
}

// A page costs the same however many generations there are.
func BenchmarkPage(b *testing.B) {
	for _, there := range []int{20, 100_000} {
		d := funded(b)
		for n := range there {
			generate(b, d, n)
		}
		for _, status := range []imagegen.Status{"", imagegen.StatusSucceeded} {
			b.Run(fmt.Sprintf("%d/%s", there, status), func(b *testing.B) {
				for b.Loop() {
					records, _, err := d.Generations(b.Context(), "alice", imagegen.Query{Status: status})
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
			d := open(b, kvtest.New())
			for n := range users {
				queue(b, d, n)
			}
			held := map[imagegen.UserID]int{}
			for n := range 15 {
				held[imagegen.UserID(fmt.Sprint("user", n))] = 1
			}
			for b.Loop() {
				rs, _, err := d.Claim(b.Context(), imagegen.ClaimRequest{Most: 1, Lease: time.Minute, Held: held})
				if err != nil || len(rs) != 1 {
					b.Fatal(len(rs), err)
				}
				if _, err := d.Update(b.Context(), rs[0].Fence(), imagegen.ReleaseChange{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// queue queues work of a user of its own.
func queue(b *testing.B, d *db, n int) {
	r := imagegen.Record{
		Intent: imagegen.Intent{ID: imagegen.GenerationID(fmt.Sprintf("gen_%026d", n)),
			User: imagegen.UserID(fmt.Sprint("user", n)), Model: "fake-1", Prompt: "a fox in the snow", N: 1, Price: 1,
			Ratio: "1:1", Tier: "1K", Async: true, CreatedAt: time.Unix(int64(n)+1, 0)},
		Progress: imagegen.Progress{State: imagegen.StateCharging},
	}
	r, err := d.Create(b.Context(), r, time.Minute)
	if err == nil {
		_, err = d.Update(b.Context(), r.Fence(), imagegen.AcceptChange{})
	}
	if err != nil {
		b.Fatal(err)
	}
}
