package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/matryer/is"
	"golang.org/x/sync/errgroup"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/postgres"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
)

// busy makes something in every table of the ledger, of each of some users.
func busy(t *testing.T, db *postgres.DB, users, generations int) {
	t.Helper()
	is, ctx := is.New(t), t.Context()
	for u := range users {
		user := imagegen.UserID(fmt.Sprint("user ", u))
		key := imagegen.Key{ID: imagegen.KeyID(fmt.Sprint("key_", u)), User: user, Hash: [32]byte{byte(u), 1}}
		is.NoErr(db.CreateUser(ctx, imagegen.User{ID: user, Name: string(user)}))
		is.NoErr(db.CreateKey(ctx, key))
		_, err := db.Grant(ctx, imagegen.Grant{User: user, Credits: 1000, Ref: string("payment " + user),
			Expires: time.Now().Add(time.Hour)})
		is.NoErr(err)
		for n := range generations {
			r := record(u*generations + n)
			r.User, r.KeyID = user, key.ID
			r, err := db.CreateCharged(ctx, r, time.Minute)
			is.NoErr(err)
			if n > 0 { // the first one is under way
				_, err = db.FinishSettled(ctx, r.Fence(), failed())
				is.NoErr(err)
			}
		}
	}
}

// A row that is missing or altered, in whatever table of the books or of generations, is a violation; the audit goes
// on.
func TestAuditFindsDamage(t *testing.T) {
	is, s := is.New(t), postgrestest.Start(t)
	url := s.Database(t)
	db := open(t, url)
	busy(t, db, 2, 2)
	conn, err := pgx.Connect(t.Context(), s.Address(databaseOf(t, url)))
	is.NoErr(err)
	defer func() { is.NoErr(conn.Close(t.Context())) }()
	exec := func(sql string) {
		t.Helper()
		_, err := conn.Exec(t.Context(), sql)
		is.NoErr(err)
	}
	defer exec("drop schema if exists kept cascade")
	for table, changes := range map[string][]string{
		"accounts": {"available = available + 1", "seq = seq + 1", "hash = sha256('')", "lots = lots + 1",
			"expires_at = expires_at + interval '1 s'"},
		"lots": {"remaining = remaining - 1", "priority = 1", "promo = not promo", "expires_at = null"},
		"entries": {"credits = credits + 1", "at = at - interval '1 us'", "actor = 'nobody'", "balance = balance + 1",
			"hash = sha256('')"},
		"charges":           {},
		"usage":             {"charged = charged + 1", "model = 'other'", "images = images + 1"},
		"key_totals":        {"credits = credits + 1", "open = open + 1"},
		"generation_totals": {"generations = generations + 1", "spent = spent + 1"},
		"generations": {"price = price + 1", "status = 'queued'", "payer = 'nobody'", "idempotency_hash = sha256('')",
			"published = published + 1"},
	} {
		table = "imagegend." + table
		last := " where ctid = (select max(ctid) from " + table + ")"
		harms := map[string]string{"removed": "delete from " + table + last}
		for _, change := range changes {
			harms[change] = "update " + table + " set " + change + last
		}
		for how, sql := range harms {
			t.Run(table+" "+how, func(t *testing.T) {
				is := is.New(t)
				exec("create schema kept; create table kept.rows as select * from " + table)
				exec(sql)
				report, err := db.Audit(t.Context())
				var columns string
				is.NoErr(conn.QueryRow(t.Context(), `select string_agg(attname, ', ') from pg_attribute
 where attrelid = $1::regclass and attnum > 0 and attgenerated = ''`, table).Scan(&columns))
				exec("delete from " + table + "; insert into " + table + " (" + columns + ") select " + columns +
					" from kept.rows; drop schema kept cascade")
				is.NoErr(err)
				is.True(!report.Clean())
				report, err = db.Audit(t.Context())
				is.NoErr(err)
				is.True(report.Clean())
			})
		}
	}
}

// A read of a record that cannot be read keeps no connection.
func TestDamageKeepsNoConnection(t *testing.T) {
	is, s := is.New(t), postgrestest.Start(t)
	url := s.Database(t)
	db, err := postgres.Open(t.Context(), postgres.Config{Migrate: true, URL: url, Connections: 2})
	is.NoErr(err)
	defer db.Close()
	fund(t, db)
	r, err := db.CreateCharged(t.Context(), record(1), time.Minute)
	is.NoErr(err)
	is.NoErr(s.Exec(databaseOf(t, url), "update imagegend.generations set options = '[]'"))
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	for range 5 {
		_, err := db.Generation(ctx, r.ID)
		is.True(err != nil && !errors.Is(err, context.DeadlineExceeded))
	}
}

// An audit reads each table in pages, of which the first of some are small: it asks about no user and no generation by
// itself.
func TestAuditAsksLittle(t *testing.T) {
	is, s := is.New(t), postgrestest.Start(t)
	url := s.Database(t)
	db := open(t, url)
	trips := func() int {
		t.Helper()
		report, trips, err := db.CountAudit(t.Context())
		is.NoErr(err)
		is.True(report.Clean())
		return trips
	}
	busy(t, db, 1, 2)
	few := trips()
	db = open(t, s.Database(t))
	busy(t, db, 20, 5)
	if all := trips(); all >= few+40 {
		t.Errorf("%d round trips, and %d for little", all, few)
	}
}

// An audit beside work finds nothing, although its pages are of several moments.
func TestAuditBesideWork(t *testing.T) {
	is, s := is.New(t), postgrestest.Start(t)
	db := open(t, s.Database(t))
	const users, before = 10, 1500 // more than a page
	var made atomic.Int64
	next := func() error {
		n := int(made.Add(1))
		u := imagegen.UserID(fmt.Sprint("user ", n%users))
		if n%7 > 0 {
			return generate(db, n, u)
		}
		r := record(n)
		r.User, r.CreatedAt = u, time.Now()
		_, err := db.CreateCharged(context.Background(), r, time.Minute) // goes on
		return err
	}
	for n := range users {
		u := imagegen.UserID(fmt.Sprint("user ", n))
		_, err := db.Grant(t.Context(), imagegen.Grant{User: u, Credits: 1_000_000})
		is.NoErr(err)
	}
	var work errgroup.Group
	var ended atomic.Bool
	for range 32 {
		work.Go(func() error {
			for !ended.Load() {
				if err := next(); err != nil {
					return err
				}
			}
			return nil
		})
	}
	eventually(t, "there is more than a page", func() bool { return made.Load() > before })
	for range 3 {
		clean(t, db)
	}
	ended.Store(true)
	is.NoErr(work.Wait())
}
