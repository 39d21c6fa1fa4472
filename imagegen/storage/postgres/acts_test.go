package postgres_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"
	"golang.org/x/sync/errgroup"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/postgres"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
	"github.com/imagegend/imagegend/imagegen/storage/transfer"
)

// Grants of several nodes share commits, and the trail has a row of each.
func TestGrantsOfThreeNodes(t *testing.T) {
	is := is.New(t)
	url := postgrestest.Start(t).Database(t)
	nodes := []*postgres.DB{open(t, url), open(t, url), open(t, url)}
	const grants, users = 900, 50
	var g errgroup.Group
	g.SetLimit(192)
	_, before := total(nodes)
	began := time.Now()
	for n := range grants {
		g.Go(func() error {
			_, err := nodes[n%3].Grant(context.Background(), imagegen.Grant{Credits: 1, Ref: fmt.Sprint("payment ", n),
				User: imagegen.UserID(fmt.Sprint("user ", n%users))})
			return err
		})
	}
	is.NoErr(g.Wait())
	_, after := total(nodes)
	t.Logf("%.0f grants a second, in %d commits", grants/time.Since(began).Seconds(), after-before)
	is.True(after-before < grants/4)
	for n := range users {
		b, err := nodes[0].Balance(t.Context(), imagegen.UserID(fmt.Sprint("user ", n)))
		is.NoErr(err)
		is.Equal(b.Credits, imagegen.Credits(grants/users))
	}
	report, err := nodes[0].Audit(t.Context())
	is.NoErr(err)
	is.Equal(report.TrailRows, grants)
}

// total is the round trips and transactions of some nodes.
func total(nodes []*postgres.DB) (trips, transactions int64) {
	for _, db := range nodes {
		t, n := db.Trips()
		trips, transactions = trips+t, transactions+n
	}
	return trips, transactions
}

// Grants wait for nobody who chains the trail, and the trail is the same before its new rows are chained.
func TestTrailBeforeItIsChained(t *testing.T) {
	s, is, ctx := postgrestest.Start(t), is.New(t), t.Context()
	url := s.Database(t)
	db := open(t, url)
	fund(t, db)
	_, err := db.Trail(ctx, account.TrailQuery{Limit: 1}) // chains it
	is.NoErr(err)
	outside := holding(t, s, url, `select from imagegend.acts for update`)
	for range 3 {
		_, err := db.Grant(ctx, imagegen.Grant{User: "bob", Credits: 1})
		is.NoErr(err)
	}
	left := func() (n int) {
		is.NoErr(outside.conn.QueryRow(ctx, `select count(*) from imagegend.trail_new`).Scan(&n))
		return n
	}
	is.Equal(left(), 3)
	before := trailOf(t, db)
	is.Equal(len(before), 4+1)
	report, err := db.Audit(ctx)
	is.NoErr(err)
	is.Equal(report.TrailRows, 4)
	is.Equal(len(report.Violations), 0)
	outside.commit()
	page, err := db.Trail(ctx, account.TrailQuery{Limit: 3})
	is.NoErr(err)
	is.Equal(len(page.Rows), 3)
	is.Equal(page.Rows[0].Seq, uint64(4))
	is.Equal(left(), 0)
	is.Equal(cmp.Diff(before, trailOf(t, db)), "")
}

// trailOf is the trail and its ends, as a move and a backup take them.
func trailOf(t *testing.T, db *postgres.DB) []transfer.Row {
	t.Helper()
	is := is.New(t)
	s, err := db.Snapshot(t.Context())
	is.NoErr(err)
	defer s.Close()
	rows, err := s.Rows(t.Context(), transfer.Place{Bucket: "trail"}, 1000)
	is.NoErr(err)
	return slices.DeleteFunc(rows, func(r transfer.Row) bool { return !strings.HasPrefix(r.Bucket, "trail") })
}

// The last use of many keys waits for no act, and holds none up.
func TestKeysAreTouchedBesideActs(t *testing.T) {
	is, s := is.New(t), postgrestest.Start(t)
	url := s.Database(t)
	db := open(t, url)
	const keys = 10_000
	is.NoErr(s.Exec(databaseOf(t, url), fmt.Sprintf(`insert into imagegend.api_keys
 select sha256(n::text::bytea), 'key_' || n, 'alice', '', '', null, null, null, null, 0, 0, 0, 0, 0
 from generate_series(1, %d) n`, keys)))
	acts := holding(t, s, url, `select from imagegend.acts for update`)
	used, at := make(map[imagegen.KeyID]time.Time), time.Now().UTC().Truncate(time.Microsecond)
	for n := range keys {
		used[imagegen.KeyID(fmt.Sprint("key_", n+1))] = at
	}
	began := time.Now()
	is.NoErr(db.TouchKeys(t.Context(), used))
	t.Logf("%d keys in %v", keys, time.Since(began))
	busy := holding(t, s, url, `select from imagegend.api_keys where id = 'key_7' for update`)
	former := at
	at = at.Add(time.Minute)
	for id := range used {
		used[id] = at
	}
	is.NoErr(db.TouchKeys(t.Context(), used)) // but for one
	busy.commit()
	acts.commit()
	all, err := db.Keys(t.Context(), "alice")
	is.NoErr(err)
	is.Equal(len(all), keys)
	for _, k := range all {
		want := at
		if k.ID == "key_7" {
			want = former
		}
		is.Equal(k.LastUsedAt, want)
	}
}
