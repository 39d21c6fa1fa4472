// Populate fills a data directory, or a database, as years of use would, through the storage's own operations, to
// measure what age costs:
//
//	go run ./bench/populate -dir /tmp/old -users 1000000 -generations 10000000
//	go run ./bench -data /tmp/old
//	go run ./bench/populate -database postgres://… -users 1000 -generations 100000
//	go run ./bench/populate -database postgres://… -sql -users 50000 -generations 5000000 -queued 30000
//
// With -sql a few statements make the rows of an empty database, hundreds of times as fast, but not the hashes of the
// journal, so that an audit complains (fill.sql).
//
// Users have a grant each and share the generations evenly; -rich gives one user many generations,
// -lots another many lots. There are no image files, so an audit of the directory finds them missing:
// with -images, as many generations of the users have one, those before them are erased, and the audit is clean.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
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
	"github.com/imagegend/imagegend/imagegen/storage/memory"
	"github.com/imagegend/imagegend/imagegen/storage/postgres"
)

// writers is how many operations wait at once, so that commits are large.
const writers = 1024

func main() {
	var o options
	flag.StringVar(&o.dir, "dir", "", "the data directory")
	flag.StringVar(&o.database, "database", "", "the address of a database in PostgreSQL, in the place of -dir")
	flag.BoolVar(&o.sql, "sql", false, "fill the database by SQL")
	flag.IntVar(&o.days, "days", 365, "with -sql: over how many days the generations are spread")
	flag.IntVar(&o.queued, "queued", 0, "with -sql: how many generations wait")
	flag.IntVar(&o.users, "users", 1_000_000, "how many users there are, with a grant each")
	flag.IntVar(&o.generations, "generations", 10_000_000, "how many generations they have")
	flag.IntVar(&o.rich, "rich", 0, "how many generations the user \"rich\" has")
	flag.IntVar(&o.lots, "lots", 0, "how many lots the user \"lots\" has")
	flag.IntVar(&o.images, "images", -1,
		"with -dir: how many of the generations have an image file of -bytes; the others are erased; below 0: none has, and none is")
	flag.IntVar(&o.size, "bytes", 16<<10, "how long an image file is")
	flag.Parse()
	began := time.Now()
	if err := o.run(context.Background()); err != nil {
		log.Fatal(err)
	}
	log.Printf("%v in all", time.Since(began).Round(time.Second))
}

type options struct {
	dir, database            string
	sql                      bool
	users, generations       int
	rich, lots, images, size int
	days, queued             int
}

func (o options) run(ctx context.Context) error {
	if o.sql {
		return o.runSQL(ctx)
	}
	f, err := o.open(ctx)
	if err != nil {
		return err
	}
	return errors.Join(o.fill(f), f.db.Close())
}

func (o options) open(ctx context.Context) (filler, error) {
	if o.database == "" {
		db, err := storage.Open(o.dir, nil)
		return filler{ctx, db, db}, err
	}
	db, err := postgres.Open(ctx, postgres.Config{URL: o.database, Migrate: true})
	return filler{ctx, db, memory.New(nil)}, err
}

func (o options) fill(f filler) error {
	one := func(i int) error { return f.generation(i, imagegen.UserID(userName(i*o.users/o.generations))) }
	if o.images >= 0 {
		one = func(i int) error {
			return f.whole(i, imagegen.UserID(userName(i*o.users/o.generations)), o.size, i < o.generations-o.images)
		}
	}
	return errors.Join(
		f.each("users", o.users, func(i int) error { return f.user(userName(i), 1_000_000) }),
		f.each("generations", o.generations, one),
		f.user("rich", 1_000_000_000),
		f.each("generations of rich", o.rich, func(i int) error { return f.generation(o.generations+i, "rich") }),
		f.user("lots", 1),
		f.each("lots", o.lots, func(int) error { return f.grant("lots", 1) }),
	)
}

//go:embed fill.sql
var fillSQL string

// runSQL fills an empty database by SQL.
func (o options) runSQL(ctx context.Context) error {
	db, err := postgres.Open(ctx, postgres.Config{URL: o.database, Migrate: true})
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		return err
	}
	separator := "?"
	if strings.Contains(o.database, "?") {
		separator = "&"
	}
	// Only this mode takes several statements at once.
	c, err := postgres.NewPool(ctx, postgres.Config{URL: o.database + separator +
		"default_query_exec_mode=simple_protocol", Connections: 1})
	if err != nil {
		return err
	}
	defer c.Close()
	set := fmt.Sprintf("set fill.users = %d; set fill.generations = %d; set fill.days = %d; set fill.queued = %d;",
		o.users, o.generations, o.days, o.queued)
	for _, sql := range []string{set + fillSQL, "vacuum analyze"} {
		if _, err := c.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

func userName(i int) string { return fmt.Sprintf("user-%d", i) }

// store is what is filled.
type store interface {
	imagegen.TxStore
	imagegen.CreditAdmin
	Close() error
}

type filler struct {
	ctx    context.Context
	db     store
	images imagegen.ImageStore
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
		err = f.images.PutImage(f.ctx, r.ImageKey(image), bytes.NewReader(content))
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
