package storage_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

const shelf kv.Bucket = "test"

func put(key, value string) func(kv.Tx) error {
	return func(tx kv.Tx) error {
		tx.Put(shelf, []byte(key), []byte(value))
		return nil
	}
}

func get(t *testing.T, db *storage.DB, key string) (value string) {
	t.Helper()
	err := db.KV().View(t.Context(), func(tx kv.Tx) error {
		value = string(tx.Get(shelf, []byte(key)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// gate is a commit that waits, so that operations queue up behind it.
type gate struct {
	commits atomic.Int32
	entered chan struct{}
	pass    chan struct{}
}

// faithful is a commit as it is.
func faithful(commit func() error) error { return commit() }

// closedGate holds the first commit of db until pass is closed; those that follow go by then.
func closedGate(db *storage.DB, then func(commit func() error) error) *gate {
	g := &gate{entered: make(chan struct{}), pass: make(chan struct{})}
	db.SetCommit(func(commit func() error) error {
		if g.commits.Add(1) > 1 {
			return then(commit)
		}
		close(g.entered)
		<-g.pass
		return commit()
	})
	return g
}

// together runs operations in one batch and returns their errors, and how many commits it took.
// It must run in a bubble.
func together(t *testing.T, db *storage.DB, commit func(func() error) error,
	ops ...func(kv.Tx) error) (errs []error, commits int) {
	t.Helper()
	g := closedGate(db, commit)
	var running sync.WaitGroup
	running.Go(func() { _ = db.KV().Update(context.Background(), put("first", "1")) })
	<-g.entered
	errs = make([]error, len(ops))
	for i, op := range ops {
		running.Go(func() { errs[i] = db.KV().Update(context.Background(), op) })
		synctest.Wait() // it waits in the queue
	}
	close(g.pass)
	running.Wait()
	return errs, int(g.commits.Load()) - 1
}

// bubble runs a test in a bubble, with a storage in dir.
func bubble(t *testing.T, dir string, test func(t *testing.T, db *storage.DB)) {
	synctest.Test(t, func(t *testing.T) { test(t, openDir(t, dir, nil)) })
}

func TestOperationsThatWaitShareACommit(t *testing.T) {
	bubble(t, t.TempDir(), func(t *testing.T, db *storage.DB) {
		is := is.New(t)
		var ops []func(kv.Tx) error
		for i := range 200 {
			ops = append(ops, put(fmt.Sprint(i), "v"))
		}
		errs, commits := together(t, db, faithful, ops...)
		is.NoErr(errors.Join(errs...))
		is.Equal(commits, 1)
		for i := range 200 {
			is.Equal(get(t, db, fmt.Sprint(i)), "v")
		}
	})
}

func TestARefusalDisturbsNobody(t *testing.T) {
	bubble(t, t.TempDir(), func(t *testing.T, db *storage.DB) {
		is := is.New(t)
		calls := 0
		refuse := func(tx kv.Tx) error {
			tx.OnCommit(func() { calls++ })
			return imagegen.ErrExists
		}
		errs, commits := together(t, db, faithful, put("a", "1"), refuse, put("b", "2"))
		is.NoErr(errors.Join(errs[0], errs[2]))
		is.True(errors.Is(errs[1], imagegen.ErrExists))
		is.Equal(commits, 1)
		is.Equal(calls, 0) // of a refused operation
		is.Equal(get(t, db, "a")+get(t, db, "b"), "12")
	})
}

// An operation that fails in any way leaves nothing, and those beside it are committed.
func TestAFaultIsAlone(t *testing.T) {
	for name, fault := range map[string]func(tx kv.Tx) error{
		"panic":               func(kv.Tx) error { panic("a bug") },
		"unexpected error":    func(kv.Tx) error { return errors.New("a bug") },
		"refusal after write": func(kv.Tx) error { return imagegen.ErrNotFound },
		"key too long":        func(tx kv.Tx) error { tx.Put(shelf, make([]byte, 1<<16), []byte("v")); return nil },
		"no key":              func(tx kv.Tx) error { tx.Put(shelf, nil, []byte("v")); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, t.TempDir(), func(t *testing.T, db *storage.DB) {
				is := is.New(t)
				calls := 0
				errs, _ := together(t, db, faithful, put("a", "1"), func(tx kv.Tx) error {
					tx.Put(shelf, []byte("wrong"), []byte("v"))
					tx.OnCommit(func() { calls++ })
					return fault(tx)
				}, put("b", "2"))
				is.NoErr(errors.Join(errs[0], errs[2]))
				is.True(imagegen.Definite(errs[1])) // it was rolled back: that much is certain
				is.Equal(get(t, db, "a")+get(t, db, "b")+get(t, db, "wrong"), "12")
				is.Equal(calls, 0)
				is.NoErr(db.Err())
			})
		})
	}
}

// A violation is a bug, whether or not something was written by then: it leaves nothing, and the log
// says what it is of.
func TestAViolationIsLoggedAndAlone(t *testing.T) {
	for name, write := range map[string]func(kv.Tx) error{"at once": func(kv.Tx) error {
		return nil
	}, "after a write": put("wrong", "v")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is := is.New(t)
				var log bytes.Buffer
				db := openDir(t, t.TempDir(), &storage.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
				errs, _ := together(t, db, faithful, put("a", "1"), func(tx kv.Tx) error {
					return cmp.Or(write(tx), error(imagegen.Violation{Rule: "lot sum", Subject: "lot_7_0",
						Detail: "off by one"}))
				}, put("b", "2"))
				is.NoErr(errors.Join(errs[0], errs[2]))
				_, ok := errors.AsType[imagegen.Violation](errs[1])
				is.True(ok && imagegen.Definite(errs[1]))
				is.Equal(get(t, db, "a")+get(t, db, "b")+get(t, db, "wrong"), "12")
				is.True(strings.Contains(log.String(), "ERROR") && strings.Contains(log.String(), "lot sum of lot_7_0"))
			})
		})
	}
}

func TestNothingPutIsNoCommit(t *testing.T) {
	is, db := is.New(t), open(t, nil)
	commits := 0
	db.SetCommit(func(commit func() error) error { commits++; return commit() })
	calls := 0
	is.NoErr(db.KV().Update(t.Context(), func(tx kv.Tx) error {
		tx.Get(shelf, []byte("a"))
		tx.Delete(shelf, []byte("a"))
		tx.OnCommit(func() { calls++ })
		return nil
	}))
	is.Equal(commits, 0)
	is.Equal(calls, 1) // what it read is durable
}

func TestABatchIsBounded(t *testing.T) {
	bubble(t, t.TempDir(), func(t *testing.T, db *storage.DB) {
		is := is.New(t)
		var ops []func(kv.Tx) error
		for i := range 10 {
			ops = append(ops, put(fmt.Sprint(i), string(bytes.Repeat([]byte("x"), 1<<20))))
		}
		errs, commits := together(t, db, faithful, ops...)
		is.NoErr(errors.Join(errs...))
		is.Equal(commits, 3) // 4, 4 and 2 MiB
	})
}

// One commit takes up 1024 operations, and as many wait for the next; a caller beyond
// them can still give up.
func TestTheQueueIsBounded(t *testing.T) {
	bubble(t, t.TempDir(), func(t *testing.T, db *storage.DB) {
		is := is.New(t)
		g := closedGate(db, faithful)
		const most, more = 1024, 10
		var running sync.WaitGroup
		errs := make([]error, 1+most+more)
		write := func(i int) {
			running.Go(func() { errs[i] = db.KV().Update(context.Background(), put(fmt.Sprint(i), "v")) })
			synctest.Wait()
		}
		write(0)
		<-g.entered
		for i := range most + more {
			write(1 + i)
		}
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan error, 1)
		go func() { gone <- db.KV().Update(ctx, put("gone", "v")) }()
		synctest.Wait()
		cancel()
		is.True(errors.Is(<-gone, imagegen.ErrNotApplied))
		close(g.pass)
		running.Wait()
		is.NoErr(errors.Join(errs...))
		is.Equal(g.commits.Load(), int32(3))
		is.Equal(get(t, db, "1034")+get(t, db, "gone"), "v")
	})
}

// After Close every write is refused, whether or not it still found a place in the queue.
func TestWritesAfterClose(t *testing.T) {
	is, db := is.New(t), open(t, nil)
	is.NoErr(db.Close())
	for range 64 { // each finds a place, or does not, at random
		err := db.KV().Update(t.Context(), put("late", "v"))
		is.True(errors.Is(err, imagegen.ErrNotApplied) && errors.Is(err, storage.ErrStopped))
	}
}

// If no transaction can be begun, nothing was written.
func TestNoTransactionCanBeBegun(t *testing.T) {
	is, db := is.New(t), open(t, nil)
	is.NoErr(db.CloseFile())
	is.True(errors.Is(db.KV().Update(t.Context(), put("a", "1")), imagegen.ErrNotApplied))
}

func TestAContextIsHonouredUntilTakenUp(t *testing.T) {
	bubble(t, t.TempDir(), func(t *testing.T, db *storage.DB) {
		is := is.New(t)
		g := closedGate(db, faithful)
		ctx, cancel := context.WithCancel(t.Context())
		taken, waiting := make(chan error, 1), make(chan error, 1)
		go func() { taken <- db.KV().Update(ctx, put("taken", "1")) }()
		<-g.entered
		ran := false
		go func() {
			waiting <- db.KV().Update(ctx, func(kv.Tx) error { ran = true; return nil })
		}()
		synctest.Wait()
		cancel()
		err := <-waiting
		is.True(errors.Is(err, imagegen.ErrNotApplied))
		is.True(errors.Is(err, context.Canceled))
		close(g.pass)
		is.NoErr(<-taken) // it was under way, and is seen through
		is.Equal(get(t, db, "taken"), "1")
		is.True(errors.Is(db.KV().Update(ctx, put("late", "1")), imagegen.ErrNotApplied))
		is.NoErr(db.Close())
		is.True(!ran)
	})
}

func TestCloseRefusesWhatWaits(t *testing.T) {
	bubble(t, t.TempDir(), func(t *testing.T, db *storage.DB) {
		is := is.New(t)
		g := closedGate(db, faithful)
		first, second, closed := make(chan error, 1), make(chan error, 1), make(chan error, 1)
		go func() { first <- db.KV().Update(context.Background(), put("a", "1")) }()
		<-g.entered
		go func() { closed <- db.Close() }()
		synctest.Wait()
		close(g.pass)
		is.NoErr(<-first) // it was under way
		is.NoErr(<-closed)
		go func() { second <- db.KV().Update(context.Background(), put("b", "2")) }()
		err := <-second
		is.True(errors.Is(err, imagegen.ErrNotApplied))
		is.True(errors.Is(err, storage.ErrStopped))
		is.True(errors.Is(db.KV().View(t.Context(), func(kv.Tx) error { return nil }), storage.ErrStopped))
		is.NoErr(db.Close())
	})
}

func TestCallbacksRunOnceDurable(t *testing.T) {
	is, db := is.New(t), open(t, nil)
	durable, called := false, false
	db.SetCommit(func(commit func() error) error {
		err := commit()
		durable = true
		return err
	})
	is.NoErr(db.KV().Update(t.Context(), func(tx kv.Tx) error {
		tx.OnCommit(func() { called = durable })
		return put("a", "1")(tx)
	}))
	is.True(called) // before Update returned
}
