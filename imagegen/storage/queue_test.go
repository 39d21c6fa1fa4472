package storage_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
	"go.etcd.io/bbolt"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage"
)

// queue has a generation of each of three users wait.
func (w worker) queue() {
	w.t.Helper()
	for n, user := range []imagegen.UserID{"alice", "bob", "carol"} {
		_, err := w.Grant(w.t.Context(), imagegen.Grant{User: user, Credits: 5})
		w.is.NoErr(err)
		r := newRecord(n)
		r.User, r.Async = user, true
		_, err = w.CreateCharged(w.t.Context(), r, time.Minute)
		w.is.NoErr(err)
	}
}

// Turns that are damaged stop nobody: they are made anew from what is due.
func TestDamagedTurns(t *testing.T) {
	cut := func(b *bbolt.Bucket, key, value []byte) error { return b.Put(key, value[:len(value)-1]) }
	lose := func(b *bbolt.Bucket, key, _ []byte) error { return b.Delete(key) }
	for _, bucket := range []string{"queue.ring", "queue.turns"} {
		for name, damage := range map[string]func(b *bbolt.Bucket, key, value []byte) error{"cut": cut, "lost": lose} {
			t.Run(bucket+" "+name, func(t *testing.T) {
				dir := t.TempDir()
				is, w := is.New(t), work(t, openDir(t, dir, nil))
				w.queue()
				is.NoErr(w.Close())

				bolt, err := bbolt.Open(filepath.Join(dir, "imagegen.db"), 0o600, nil)
				is.NoErr(err)
				is.NoErr(bolt.Update(func(tx *bbolt.Tx) error {
					b := tx.Bucket([]byte(bucket))
					key, value := b.Cursor().Last()
					return damage(b, key, value)
				}))
				is.NoErr(bolt.Close())

				var log strings.Builder
				w = work(t, openDir(t, dir, &storage.Options{Log: slog.New(slog.NewTextHandler(&log, nil))}))
				is.Equal(strings.Count(log.String(), "the order of the queue was damaged, and was made anew"), 1)
				w.clean()
				records, _, err := w.Claim(t.Context(), imagegen.Demand{Most: 5, Lease: time.Minute})
				is.NoErr(err)
				var users []string
				for _, r := range records {
					users = append(users, string(r.User))
				}
				is.Equal(fmt.Sprint(users), "[alice bob carol]")
				w.clean()
			})
		}
	}
}

// Nor do those that are damaged while the queue is at work: they are made anew by whoever meets the damage,
// and readiness warns until an audit finds nothing.
func TestTurnsDamagedAtWork(t *testing.T) {
	spoil := func(b *bbolt.Bucket, key, value []byte) error { return b.Put(key, lastByte(slices.Clone(value))) }
	lose := func(b *bbolt.Bucket, key, _ []byte) error { return b.Delete(key) }
	last := func(b *bbolt.Bucket, damage func(b *bbolt.Bucket, key, value []byte) error) error {
		key, value := b.Cursor().Last()
		return damage(b, slices.Clone(key), value)
	}
	for name, damage := range map[string]func(ring, turns *bbolt.Bucket) error{
		"ring spoilt":     func(ring, _ *bbolt.Bucket) error { return last(ring, spoil) },
		"turns spoilt":    func(_, turns *bbolt.Bucket) error { return last(turns, spoil) },
		"turns lost":      func(_, turns *bbolt.Bucket) error { return last(turns, lose) },
		"one's turn lost": func(ring, _ *bbolt.Bucket) error { return last(ring, lose) },
		"all lost": func(ring, turns *bbolt.Bucket) error {
			for range 3 {
				if err := errors.Join(last(ring, lose), last(turns, lose)); err != nil {
					return err
				}
			}
			return nil
		},
		"one for nothing": func(ring, turns *bbolt.Bucket) error {
			turn, user := binary.BigEndian.AppendUint64(nil, 9), []byte("dora\x00")
			return errors.Join(ring.Put(turn, storage.Seal("queue.ring", turn, user)), turns.Put(user, storage.Seal("queue.turns", user, turn)))
		},
	} {
		for next, want := range map[string]string{"claim": "[alice bob carol]", "carol's": "[alice bob carol carol]"} {
			t.Run(name+", "+next, func(t *testing.T) {
				var log strings.Builder
				is, w := is.New(t), work(t, openDir(t, t.TempDir(), &storage.Options{Log: slog.New(slog.NewTextHandler(&log, nil))}))
				w.queue()
				is.NoErr(w.Bolt().Update(func(tx *bbolt.Tx) error {
					return damage(tx.Bucket([]byte("queue.ring")), tx.Bucket([]byte("queue.turns")))
				}))
				if next != "claim" {
					r := newRecord(7)
					r.User, r.Async = "carol", true
					_, err := w.CreateCharged(t.Context(), r, time.Minute)
					is.NoErr(err)
				}
				var users []string
				for _, r := range w.claim() {
					users = append(users, string(r.User))
				}
				is.Equal(fmt.Sprint(slices.Sorted(slices.Values(users))), want)
				is.True(strings.Contains(log.String(), "the order of the queue was damaged, and was made anew"))
				warnings := w.Warnings(t.Context())
				is.Equal(len(warnings), 1)
				is.Equal(warnings[0].Code, "damage")
				w.clean()
				is.Equal(len(w.Warnings(t.Context())), 0)
			})
		}
	}
}

// Turns that are sound stay as they are, with their order.
func TestTurnsOutlastTheProcess(t *testing.T) {
	dir := t.TempDir()
	is, w := is.New(t), work(t, openDir(t, dir, nil))
	w.queue()
	r := newRecord(9)
	r.Async = true
	_, err := w.CreateCharged(t.Context(), r, time.Minute)
	is.NoErr(err)
	records, _, err := w.Claim(t.Context(), imagegen.Demand{Most: 1, Lease: time.Minute})
	is.NoErr(err)
	is.Equal(records[0].User, imagegen.UserID("alice")) // who goes to the end
	is.NoErr(w.Close())
	w = work(t, openDir(t, dir, nil))
	records, _, err = w.Claim(t.Context(), imagegen.Demand{Most: 1, Lease: time.Minute})
	is.NoErr(err)
	is.Equal(records[0].User, imagegen.UserID("bob"))
	w.clean()
}
