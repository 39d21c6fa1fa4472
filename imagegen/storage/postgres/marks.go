package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// errUnchanged ends a transaction that has nothing to write.
var errUnchanged = errors.New("postgres: nothing is to be written")

// marksAtOnce is how many calls of Mark hold a connection.
const marksAtOnce = 4

const readMarks = `select key, until from imagegend.marks where key = any($1) and until > $2`

// writeMarks also forgets up to 20 marks whose time has passed; it adds fewer, so they do not pile up.
const writeMarks = `with over as (delete from imagegend.marks where key in
 (select key from imagegend.marks where until <= $3 and key <> all($1) order by until limit 20 for update skip locked))
 insert into imagegend.marks select * from unnest($1::bytea[], $2::timestamptz[]) on conflict (key) do update set until = excluded.until`

// Mark implements [account.LoginStore]. It locks its keys and nothing else, and does not wait for the disk. A key that
// is to be removed stays until it is forgotten, with a time that has passed. Strangers cause marks, so few calls are
// under way at once: those that wait for a lock hold a connection.
func (db *DB) Mark(ctx context.Context, now time.Time, keys [][32]byte, change func([]time.Time) bool) error {
	if err := kv.NotBegun(ctx); err != nil {
		return err
	}
	select {
	case db.marking <- struct{}{}:
	case <-ctx.Done():
		return kv.NotBegun(ctx)
	}
	defer func() { <-db.marking }()
	at, places, locks := make(map[string]int), make([][]byte, len(keys)), make([]int64, len(keys))
	for i, key := range keys {
		at[string(key[:])], places[i], locks[i] = i, key[:], int64(binary.BigEndian.Uint64(key[:]))
	}
	slices.Sort(locks) // so that no two transactions wait for each other
	read := func(s *session) []time.Time {
		until := make([]time.Time, len(keys))
		var key []byte
		var till time.Time
		s.scan(func() { until[at[string(key)]] = till.UTC() }, []any{&key, &till}, readMarks, places, now)
		return until
	}
	changes := false
	if err := db.view(ctx, func(s *session) error { changes = change(read(s)); return nil }); err != nil || !changes {
		return err
	}
	err := db.workAfter(ctx, func(b *pgx.Batch) {
		b.Queue(hastily)
		b.Queue(`select pg_advisory_xact_lock(k) from unnest($1::bigint[]) k`, locks)
	}, func(s *session) error {
		until := read(s)
		if !change(until) {
			return errUnchanged
		}
		times := make([]time.Time, len(keys))
		for i, t := range until {
			if t.After(now) {
				times[i] = t
			}
		}
		s.exec(writeMarks, places, times, now)
		return nil
	})
	if errors.Is(err, errUnchanged) {
		return nil
	}
	return err
}
