package storage_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/storagetest"
)

func benchDB(b *testing.B) *storage.DB {
	b.Helper()
	db, err := storage.Open(b.TempDir(), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	return db
}

// each runs b.N operations on so many goroutines.
func each(b *testing.B, writers int, f func(n int) error) {
	b.Helper()
	b.ResetTimer()
	atOnce(b, writers, b.N, f)
}

// atOnce runs so many operations on so many goroutines.
func atOnce(b *testing.B, writers, times int, f func(n int) error) {
	b.Helper()
	var n atomic.Int64
	done := make(chan error, writers)
	for range writers {
		go func() {
			for {
				i := int(n.Add(1))
				if i > times {
					done <- nil
					return
				}
				if err := f(i); err != nil {
					done <- err
					return
				}
			}
		}()
	}
	for range writers {
		if err := <-done; err != nil {
			b.Fatal(err)
		}
	}
}

// Four values of 200 bytes in each operation.
func BenchmarkUpdate(b *testing.B) {
	for _, writers := range []int{1, 16, 256} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			db := benchDB(b)
			var commits atomic.Int64
			db.SetCommit(func(commit func() error) error { commits.Add(1); return commit() })
			each(b, writers, func(n int) error {
				return db.KV().Update(b.Context(), func(tx kv.Tx) error {
					for i := range 4 {
						tx.Put(shelf, kv.Key(uint64(n), uint64(i)), make([]byte, 200))
					}
					return nil
				})
			})
			b.ReportMetric(float64(b.N)/float64(commits.Load()), "ops/commit")
		})
	}
}

// A generation as the engine writes it down: charged, and settled with one image.
func BenchmarkGeneration(b *testing.B) {
	for _, writers := range []int{1, 16, 256} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			db := benchDB(b)
			if _, err := db.Grant(b.Context(), imagegen.Grant{User: "alice",
				Credits: imagegen.MaxCredits}); err != nil {
				b.Fatal(err)
			}
			each(b, writers, func(n int) error {
				r, err := db.CreateCharged(b.Context(), newRecord(n), time.Minute)
				if err != nil {
					return err
				}
				o := imagegen.OutcomeChange{Images: []imagegen.StoredImage{stored(r, pixels(1))}, At: epoch}
				_, err = db.FinishSettled(b.Context(), r.Fence(), o)
				return err
			})
		})
	}
}

func BenchmarkView(b *testing.B) {
	db := benchDB(b)
	r, err := db.Create(b.Context(), newRecord(1), time.Minute)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := db.Generation(b.Context(), r.ID); err != nil {
			b.Fatal(err)
		}
	}
}

// Beside it, the same steps by hand: the least that a durable file costs.
func BenchmarkPutImage(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 20} {
		content := make([]byte, size)
		b.Run(fmt.Sprintf("size=%d", size), func(b *testing.B) {
			db := benchDB(b)
			b.SetBytes(int64(size))
			n := 0
			for b.Loop() {
				n++
				k := imagegen.ImageKey{Generation: "gen_1", Attempt: 1, Image: imagegen.ImageID(fmt.Sprint(n))}
				if err := db.PutImage(b.Context(), k, bytes.NewReader(content)); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("size=%d/byHand", size), func(b *testing.B) {
			dir := b.TempDir()
			b.SetBytes(int64(size))
			n := 0
			for b.Loop() {
				n++
				if err := byHand(dir, fmt.Sprint(n), content); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func byHand(dir, name string, content []byte) error {
	f, err := os.OpenFile(filepath.Join(dir, "temp"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(content); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), filepath.Join(dir, name)); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// A write beside a backup that nobody reads, an audit after the other, and a file that grows by 3 GiB. The
// longest is what counts: go test -run xxx -bench BesideReaders -benchtime 1x ./imagegen/storage
func BenchmarkWriteBesideReaders(b *testing.B) {
	const before, growth, value = 256 << 20, 3 << 30, 1 << 20
	for b.Loop() {
		db, err := storage.Open(b.TempDir(), nil)
		if err != nil {
			b.Fatal(err)
		}
		grown := growBy(b, db, 0, before, value)
		quiet := writes(b, db, time.After(3*time.Second))
		read, stop := make(chan struct{}), make(chan time.Time)
		var readers sync.WaitGroup
		readers.Go(func() { // its first byte is taken when all is over
			if err := db.Backup(b.Context(), writer(func(p []byte) (int, error) {
				<-read
				return len(p), nil
			})); err != nil {
				b.Error(err)
			}
		})
		audits := 0
		readers.Go(func() {
			for open := true; open; {
				if _, err := db.Audit(b.Context()); err != nil {
					b.Error(err)
				}
				audits++
				select {
				case <-stop:
					open = false
				default:
				}
			}
		})
		go func() {
			growBy(b, db, grown, growth, value)
			close(stop)
		}()
		busy := writes(b, db, stop)
		close(read)
		readers.Wait()
		b.ReportMetric(float64(quiet.Milliseconds()), "ms-longest-alone")
		b.ReportMetric(float64(busy.Milliseconds()), "ms-longest-write")
		b.ReportMetric(float64(audits), "audits")
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// growBy puts large values, four at a time, and returns how many there are then.
func growBy(b *testing.B, db *storage.DB, first, bytes, value int) (next int) {
	large := strings.Repeat("x", value)
	var running sync.WaitGroup
	for w := range 4 {
		running.Go(func() {
			for i := w; i < bytes/value; i += 4 {
				if err := db.KV().Update(b.Context(), put(fmt.Sprint("large ", first+i), large)); err != nil {
					b.Error(err)
				}
			}
		})
	}
	running.Wait()
	return first + bytes/value
}

// writes writes a little, again and again, and returns how long the longest write took.
func writes(b *testing.B, db *storage.DB, end <-chan time.Time) (longest time.Duration) {
	for n := 0; ; n++ {
		select {
		case <-end:
			return longest
		default:
		}
		began := time.Now()
		if err := db.KV().Update(b.Context(), put(fmt.Sprint("small ", n%1000), "v")); err != nil {
			b.Error(err)
		}
		longest = max(longest, time.Since(began))
	}
}

// What the feed costs: a generation that is charged and settled, by 16 callers at once.
func BenchmarkFeed(b *testing.B) {
	for _, keep := range []bool{false, true} {
		b.Run(fmt.Sprint("keep=", keep), func(b *testing.B) {
			db := benchDB(b)
			storagetest.BenchmarkFeed(b, db, keep)
		})
	}
}
