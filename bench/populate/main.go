// Populate fills a data directory as years of use would, through the storage's own operations, to
// measure what age costs:
//
//	go run ./bench/populate -dir /tmp/old -users 1000000 -generations 10000000
//	go run ./bench -data /tmp/old
//
// Users have a grant each and share the generations evenly; -rich gives one user many generations,
// -lots another many lots. There are no image files, so an audit of the directory finds them missing:
// with -images, as many generations of the users have one, those before them are erased, and the audit is clean.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
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
	images := flag.Int("images", -1,
		"how many of the generations have an image file of -bytes; the others are erased; below 0: none has, and none is")
	size := flag.Int("bytes", 16<<10, "how long an image file is")
	flag.Parse()
	if err := run(context.Background(), *dir, *users, *generations, *rich, *lots, kept{*images, *size}); err != nil {
		log.Fatal(err)
	}
}

// kept says which generations keep their image.
type kept struct{ images, size int }

func run(ctx context.Context, dir string, users, generations, rich, lots int, k kept) error {
	db, err := storage.Open(dir, nil)
	if err != nil {
		return err
	}
	began := time.Now()
	f := filler{ctx, db}
	one := func(i int) error { return f.generation(i, imagegen.UserID(userName(i*users/generations))) }
	if k.images >= 0 {
		one = func(i int) error {
			return f.whole(i, imagegen.UserID(userName(i*users/generations)), k.size, i < generations-k.images)
		}
	}
	err = errors.Join(
		f.each("users", users, func(i int) error { return f.user(userName(i), 1_000_000) }),
		f.each("generations", generations, one),
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
	u := imagegen.User{ID: imagegen.UserID(name), Name: name, AccountType: imagegen.DefaultAccountType,
		CreatedAt: time.Now()}
	return errors.Join(f.db.CreateUser(f.ctx, u), f.grant(u.ID, credits))
}

func (f filler) grant(u imagegen.UserID, credits imagegen.Credits) error {
	_, err := f.db.Grant(f.ctx, imagegen.Grant{User: u, Credits: credits, Priority: imagegen.DefaultPriority})
	return err
}

// generation is one of one image that has succeeded, and has no file.
func (f filler) generation(i int, u imagegen.UserID) error {
	r, err := f.charged(i, u)
	if err != nil {
		return err
	}
	return f.finish(r, imagegen.StoredImage{Size: 1 << 20})
}

// whole is one of one image that has succeeded, with its file, or was erased since.
func (f filler) whole(i int, u imagegen.UserID, size int, erased bool) error {
	r, err := f.charged(i, u)
	if err != nil {
		return err
	}
	content := bytes.Repeat([]byte(r.ID), 1+size/len(r.ID))[:size]
	image := imagegen.StoredImage{ID: imageID(r), Attempt: r.Attempt, Size: int64(size), SHA256: sha256.Sum256(content)}
	if !erased {
		err = f.db.PutImage(f.ctx, r.ImageKey(image), bytes.NewReader(content))
	}
	if err == nil {
		err = f.finish(r, image)
	}
	if err != nil || !erased {
		return err
	}
	for _, c := range []imagegen.Change{imagegen.EraseChange{Aged: true}, imagegen.PurgeChange{}} {
		if _, err := f.db.Update(f.ctx, r.Fence(), c); err != nil {
			return err
		}
	}
	return nil
}

func (f filler) charged(i int, u imagegen.UserID) (imagegen.Record, error) {
	return f.db.CreateCharged(f.ctx, imagegen.Record{
		Intent: imagegen.Intent{ID: imagegen.GenerationID(fmt.Sprintf("gen_%026d", i)), User: u, Model: "fake-1",
			Prompt: "a fox in the snow, seen from afar", N: 1, Ratio: "1:1", Tier: imagegen.Tier1K, Price: 1,
			CreatedAt: now()},
		Progress: imagegen.Progress{State: imagegen.StateCharging, Attempt: 1},
	}, time.Minute)
}

func (f filler) finish(r imagegen.Record, image imagegen.StoredImage) error {
	image.ID, image.Attempt, image.MediaType, image.Width, image.Height, image.CreatedAt = imageID(r), r.Attempt,
		"image/png", 1024, 1024, r.CreatedAt
	_, err := f.db.FinishSettled(f.ctx, r.Fence(), imagegen.OutcomeChange{At: now(),
		AccountType: imagegen.DefaultAccountType, Images: []imagegen.StoredImage{image}})
	return err
}

func imageID(r imagegen.Record) imagegen.ImageID {
	return imagegen.ImageID("image_" + strings.TrimPrefix(string(r.ID), "gen_") + strings.Repeat("A", 26))
}

func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }
