// Populate fills a data directory as years of use would, through the storage's own operations, to
// measure what age costs:
//
//	go run ./bench/populate -dir /tmp/old -users 1000000 -generations 10000000
//	go run ./bench -data /tmp/old
//
// Users have a grant each and share the generations evenly; -rich gives one user many generations,
// -lots another many lots. There are no image files, so an audit of the directory finds them missing.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage"
)

// writers is how many operations wait at once, so that commits are large.
const writers = 1024

func main() {
	dir := flag.String("dir", "", "the data directory")
	users := flag.Int("users", 1_000_000, "how many users there are, with a grant each")
	generations := flag.Int("generations", 10_000_000, "how many generations they have")
	rich := flag.Int("rich", 0, "how many generations the user \"rich\" has")
	lots := flag.Int("lots", 0, "how many lots the user \"lots\" has")
	flag.Parse()
	if err := run(context.Background(), *dir, *users, *generations, *rich, *lots); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, dir string, users, generations, rich, lots int) error {
	db, err := storage.Open(dir, nil)
	if err != nil {
		return err
	}
	began := time.Now()
	f := filler{ctx, db}
	err = errors.Join(
		f.each("users", users, func(i int) error { return f.user(userName(i), 1_000_000) }),
		f.each("generations", generations, func(i int) error { return f.generation(i, imagegen.UserID(userName(i*users/generations))) }),
		f.user("rich", 1_000_000_000),
		f.each("generations of rich", rich, func(i int) error { return f.generation(generations+i, "rich") }),
		f.user("lots", 1),
		f.each("lots", lots, func(int) error { return f.grant("lots", 1) }),
	)
	log.Printf("%v in all", time.Since(began).Round(time.Second))
	return errors.Join(err, db.Close())
}

func userName(i int) string { return fmt.Sprintf("user-%d", i) }

type filler struct {
	ctx context.Context
	db  *storage.DB
}

// each does something n times, by many at once.
func (f filler) each(what string, n int, do func(i int) error) error {
	if n == 0 {
		return nil
	}
	began := time.Now()
	var next atomic.Int64
	errs := make([]error, writers)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && errs[w] == nil; i = int(next.Add(1)) - 1 {
				errs[w] = do(i)
			}
		})
	}
	wg.Wait()
	log.Printf("%d %s, %.0f/s", n, what, float64(n)/time.Since(began).Seconds())
	return errors.Join(errs...)
}

func (f filler) user(name string, credits imagegen.Credits) error {
	u := imagegen.User{ID: imagegen.UserID(name), Name: name, AccountType: imagegen.DefaultAccountType, CreatedAt: time.Now()}
	return errors.Join(f.db.CreateUser(f.ctx, u), f.grant(u.ID, credits))
}

func (f filler) grant(u imagegen.UserID, credits imagegen.Credits) error {
	_, err := f.db.Grant(f.ctx, imagegen.Grant{User: u, Credits: credits, Priority: imagegen.DefaultPriority})
	return err
}

// generation is one of one image that has succeeded.
func (f filler) generation(i int, u imagegen.UserID) error {
	number, at := fmt.Sprintf("%026d", i), time.Now().UTC().Truncate(time.Millisecond)
	r, err := f.db.CreateCharged(f.ctx, imagegen.Record{
		Intent: imagegen.Intent{ID: imagegen.GenerationID("gen_" + number), User: u, Model: "fake-1",
			Prompt: "a fox in the snow, seen from afar", N: 1, Ratio: "1:1", Tier: imagegen.Tier1K, Price: 1, CreatedAt: at},
		Progress: imagegen.Progress{State: imagegen.StateCharging, Attempt: 1},
	}, time.Minute)
	if err != nil {
		return err
	}
	_, err = f.db.FinishSettled(f.ctx, r.Fence(), imagegen.Outcome{At: at, AccountType: imagegen.DefaultAccountType, Images: []imagegen.StoredImage{{
		ID: imagegen.ImageID("image_" + number + strings.Repeat("A", 26)), Attempt: 1, MediaType: "image/png",
		Width: 1024, Height: 1024, Size: 1 << 20, CreatedAt: at,
	}}})
	return err
}
