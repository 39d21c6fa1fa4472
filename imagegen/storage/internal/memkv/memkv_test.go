package memkv_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/memkv"
)

const b kv.Bucket = "b"

func put(key, value string) func(kv.Tx) error {
	return func(tx kv.Tx) error {
		tx.Put(b, []byte(key), []byte(value))
		return nil
	}
}

// pairs lists a bucket, going up from a key, or down from below one.
func pairs(t *testing.T, db kv.DB, walk func(kv.Tx, func(k, v []byte) bool)) (found []string) {
	t.Helper()
	is.New(t).NoErr(db.View(t.Context(), func(tx kv.Tx) error {
		walk(tx, func(k, v []byte) bool {
			found = append(found, string(k)+"="+string(v))
			return true
		})
		return nil
	}))
	return found
}

func up(from string) func(kv.Tx, func(k, v []byte) bool) {
	return func(tx kv.Tx, f func(k, v []byte) bool) { tx.Ascend(b, []byte(from), f) }
}

func down(before string) func(kv.Tx, func(k, v []byte) bool) {
	return func(tx kv.Tx, f func(k, v []byte) bool) { tx.Descend(b, []byte(before), f) }
}

func downFromEnd(tx kv.Tx, f func(k, v []byte) bool) { tx.Descend(b, nil, f) }

// Random changes, some of them rolled back, give what a map gives.
func TestAgainstMap(t *testing.T) {
	is := is.New(t)
	r := rand.New(rand.NewPCG(1, 2))
	db, want := memkv.New(), map[string]string{}
	abort := errors.New("abort")
	const most = 1000
	for step := range 160 {
		next := maps.Clone(want)
		growing := step / 40 % 2 // it shrinks, grows, shrinks and grows
		err := db.Update(t.Context(), func(tx kv.Tx) error {
			for range 100 {
				key := fmt.Sprint(r.IntN(most))
				if r.IntN(10) < 1+8*growing {
					next[key] = fmt.Sprint(step)
					tx.Put(b, []byte(key), []byte(next[key]))
				} else {
					delete(next, key)
					tx.Delete(b, []byte(key))
				}
				if got := string(tx.Get(b, []byte(key))); got != next[key] {
					t.Errorf("step %d: key %s is %q within the transaction, want %q", step, key, got, next[key])
				}
			}
			if r.IntN(3) == 0 {
				return abort
			}
			return nil
		})
		if err == nil {
			want = next
		}
		same(t, db, want, fmt.Sprint(r.IntN(most)))
	}
	is.True(len(want) > most/2)
}

// same compares all pairs, and what lies on both sides of a key.
func same(t *testing.T, db kv.DB, want map[string]string, middle string) {
	t.Helper()
	is := is.New(t)
	var all []string
	keys := slices.Sorted(maps.Keys(want))
	for _, k := range keys {
		all = append(all, k+"="+want[k])
	}
	at, _ := slices.BinarySearch(keys, middle)
	falling := slices.Clone(all)
	slices.Reverse(falling)
	is.True(slices.Equal(all, pairs(t, db, up(""))))
	is.True(slices.Equal(falling, pairs(t, db, downFromEnd)))
	is.True(slices.Equal(all[at:], pairs(t, db, up(middle))))
	is.True(slices.Equal(falling[len(all)-at:], pairs(t, db, down(middle))))
}

func TestWalkStops(t *testing.T) {
	is, db := is.New(t), memkv.New()
	for _, k := range []string{"a", "b", "c"} {
		is.NoErr(db.Update(t.Context(), put(k, "1")))
	}
	is.NoErr(db.View(t.Context(), func(tx kv.Tx) error {
		calls := 0
		stop := func(_, _ []byte) bool { calls++; return false }
		tx.Ascend(b, nil, stop)
		tx.Descend(b, nil, stop)
		tx.Ascend("none", nil, stop)
		is.Equal(calls, 2)
		return nil
	}))
}

// What is stored is the database's own.
func TestValuesAreCopied(t *testing.T) {
	is, db := is.New(t), memkv.New()
	key, value := []byte("key"), []byte("value")
	is.NoErr(db.Update(t.Context(), func(tx kv.Tx) error {
		tx.Put(b, key, value)
		return nil
	}))
	key[0], value[0] = 'x', 'x'
	is.Equal(pairs(t, db, up("")), []string{"key=value"})
}

func TestFailureRollsBack(t *testing.T) {
	wrong := errors.New("wrong")
	for name, fail := range map[string]func() error{
		"error": func() error { return wrong },
		"panic": func() error { panic(wrong.Error()) },
	} {
		t.Run(name, func(t *testing.T) {
			is, db := is.New(t), memkv.New()
			is.NoErr(db.Update(t.Context(), put("a", "1")))
			committed := false
			err := db.Update(t.Context(), func(tx kv.Tx) error {
				tx.OnCommit(func() { committed = true })
				tx.Put(b, []byte("a"), []byte("2"))
				tx.Put(b, []byte("a"), []byte("3"))
				tx.Put(b, []byte("b"), []byte("2"))
				tx.Delete(b, []byte("a"))
				return fail()
			})
			is.True(err != nil && strings.Contains(err.Error(), "wrong"))
			is.True(!committed)
			is.Equal(pairs(t, db, up("")), []string{"a=1"})
			is.NoErr(db.Update(t.Context(), put("c", "1"))) // it goes on
		})
	}
}

func TestOnCommit(t *testing.T) {
	is, db := is.New(t), memkv.New()
	var called []int
	is.NoErr(db.Update(t.Context(), func(tx kv.Tx) error {
		tx.OnCommit(func() { called = append(called, 1) })
		tx.OnCommit(func() { called = append(called, 2) })
		is.Equal(len(called), 0)
		return nil
	}))
	is.Equal(called, []int{1, 2})
}

func TestViewCannotWrite(t *testing.T) {
	is, db := is.New(t), memkv.New()
	is.True(db.View(t.Context(), put("a", "1")) != nil)
	is.Equal(len(pairs(t, db, up(""))), 0)
}

func TestEndedContext(t *testing.T) {
	is, db := is.New(t), memkv.New()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := db.Update(ctx, put("a", "1"))
	is.True(errors.Is(err, imagegen.ErrNotApplied))
	is.True(errors.Is(err, context.Canceled))
	is.True(errors.Is(db.View(ctx, func(kv.Tx) error { return nil }), context.Canceled))
	is.Equal(len(pairs(t, db, up(""))), 0)
}

// A reader sees all of a transaction or nothing.
func TestIsolation(t *testing.T) {
	is, db := is.New(t), memkv.New()
	var all sync.WaitGroup
	defer all.Wait()
	for i := range 4 {
		all.Go(func() {
			for j := range 50 {
				value := fmt.Sprint(i, "-", j)
				_ = db.Update(context.Background(), func(tx kv.Tx) error {
					tx.Put(b, []byte("a"), []byte(value))
					tx.Put(b, []byte("z"), []byte(value))
					return nil
				})
			}
		})
	}
	for range 200 {
		is.NoErr(db.View(t.Context(), func(tx kv.Tx) error {
			is.Equal(string(tx.Get(b, []byte("a"))), string(tx.Get(b, []byte("z"))))
			return nil
		}))
	}
}

func BenchmarkPut(bench *testing.B) {
	for _, pairs := range []int{100, 1_000_000} {
		bench.Run(fmt.Sprint(pairs, " pairs"), func(bench *testing.B) {
			db, r := memkv.New(), rand.New(rand.NewPCG(1, 2))
			random := func(tx kv.Tx) error {
				tx.Put(b, kv.Key(r.Uint64N(uint64(pairs))*0x9e3779b97f4a7c15), []byte("value"))
				return nil
			}
			for range pairs {
				if err := db.Update(bench.Context(), random); err != nil {
					bench.Fatal(err)
				}
			}
			bench.ReportAllocs()
			for bench.Loop() {
				_ = db.Update(bench.Context(), random)
			}
		})
	}
}
