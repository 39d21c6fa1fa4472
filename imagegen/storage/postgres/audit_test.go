package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/matryer/is"

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
	conn, err := pgx.Connect(t.Context(), url)
	is.NoErr(err)
	defer func() { is.NoErr(conn.Close(t.Context())) }()
	exec := func(sql string) {
		t.Helper()
		_, err := conn.Exec(t.Context(), sql)
		is.NoErr(err)
	}
	defer exec("drop schema if exists kept cascade")
	for _, table := range []string{"accounts", "lots", "journal", "charges", "usage", "totals", "generations"} {
		harms := map[string]string{"removed": "delete from imagegend." + table +
			" where ctid = any(array(select ctid from imagegend." + table + " limit 1))"}
		if table != "charges" {
			for at, place := range map[string]string{"first": "0", "last": "length(form) - 1"} {
				harms[at+" byte"] = "update imagegend." + table + " set form = set_byte(form, " + place +
					", get_byte(form, " + place + ") # 1)"
			}
			harms["cut"] = "update imagegend." + table + " set form = substring(form for length(form) / 2)"
		}
		for how, sql := range harms {
			t.Run(table+" "+how, func(t *testing.T) {
				is := is.New(t)
				exec("create schema kept; create table kept.rows as select * from imagegend." + table)
				exec(sql)
				report, err := db.Audit(t.Context())
				exec("delete from imagegend." + table + "; insert into imagegend." + table +
					" select * from kept.rows; drop schema kept cascade")
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
	is.NoErr(s.Exec(databaseOf(t, url), "update imagegend.generations set form = '\\x00'"))
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
	is.True(trips() < few+40)
}
