package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/postgres"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
)

// Somebody who holds the row of an account holds up its user alone, on every path: at most four calls for the account,
// and a quarter of the connections in all, wait for it, and further ones are refused.
func TestAccountThatSomebodyHolds(t *testing.T) {
	s := postgrestest.Start(t)
	for name, of := range map[string]struct {
		open   func(*testing.T, string, ...func(*postgres.Config)) *postgres.DB
		schema string
		waits  int // how many calls wait
	}{
		"own pool":    {open, "imagegend", 4},
		"host's pool": {openHosted, `"imagegend.""Select""'s $$ Größe"`, 2}, // of eight connections
	} {
		t.Run(name, func(t *testing.T) {
			is, url, ctx := is.New(t), s.Database(t), t.Context()
			db := of.open(t, url, func(c *postgres.Config) { c.Connections = 32 })
			fund(t, db)
			_, err := db.Grant(ctx, imagegen.Grant{User: "bob", Credits: 1000})
			is.NoErr(err)
			is.NoErr(db.CreateUser(ctx, imagegen.User{ID: "alice", Name: "alice"}))
			begun, err := db.CreateCharged(ctx, record(1), time.Minute)
			is.NoErr(err)
			outside := holding(t, s, url, `select from `+of.schema+`.accounts where usr = 'alice' for update`)

			waiting := make(chan error, of.waits)
			go func() {
				_, err := db.FinishSettled(context.Background(), begun.Fence(), failed())
				waiting <- err
			}()
			for n := range of.waits - 1 {
				go func() { waiting <- db.Charge(context.Background(), charged("alice", n)) }()
			}
			alone(t, db, of.waits)
			more := make(chan error, 2)
			go func() { more <- db.Charge(context.Background(), charged("alice", 10)) }()
			go func() {
				_, err := db.FinishSettled(context.Background(), begun.Fence(), failed())
				more <- err
			}()
			for range 2 {
				err := <-more
				is.True(errors.Is(err, imagegen.ErrAccountLocked))
				is.True(errors.Is(imagegen.ToUserError(err), imagegen.ErrOverloaded))
			}
			othersGoOn(t, db)
			is.NoErr(db.ExpireAll(ctx))
			is.Equal(len(waiting), 0)
			outside.commit()
			for range of.waits {
				is.NoErr(<-waiting)
			}
			b, err := db.Balance(ctx, "alice")
			is.NoErr(err)
			is.Equal(b.Credits, imagegen.Credits(1000-5*(of.waits-1)))
			is.NoErr(db.Charge(ctx, charged("alice", 20))) // as before
		})
	}
}

func charged(u imagegen.UserID, n int) imagegen.Charge {
	return imagegen.Charge{ID: imagegen.ChargeID(fmt.Sprint(u, n)), User: u, Credits: 5, N: 1}
}

// alone waits until so many calls wait alone.
func alone(t *testing.T, db *postgres.DB, calls int) {
	t.Helper()
	eventually(t, "calls wait alone", func() bool { return db.Alone() == calls })
}

// othersGoOn does everything that bob does, and what is done for him.
func othersGoOn(t *testing.T, db *postgres.DB) {
	t.Helper()
	is, ctx := is.New(t), t.Context()
	for n := range 10 {
		is.NoErr(db.Charge(ctx, charged("bob", n)))
		is.NoErr(db.Settle(ctx, charged("bob", n).ID, 5))
		r := record(100 + n)
		r.User, r.Async, r.Attempt = "bob", true, 0
		r, err := db.CreateCharged(ctx, r, time.Minute)
		is.NoErr(err)
		is.Equal(claim(t, db, 1), []imagegen.GenerationID{r.ID})
		_, err = db.Generation(ctx, r.ID)
		is.NoErr(err)
		r.Attempt++
		_, err = db.FinishSettled(ctx, r.Fence(), failed())
		is.NoErr(err)
		_, err = db.Grant(ctx, imagegen.Grant{User: "bob", Credits: 1})
		is.NoErr(err)
		is.NoErr(db.CreateUser(ctx, imagegen.User{ID: imagegen.UserID(fmt.Sprint("user ", n)), Name: fmt.Sprint(n)}))
	}
}

// Acts on a user whose account somebody holds wait for it, those that refuse charges too, and hold up no other act.
func TestActsOnAnAccountThatSomebodyHolds(t *testing.T) {
	s, is, ctx := postgrestest.Start(t), is.New(t), t.Context()
	url := s.Database(t)
	db := open(t, url, func(c *postgres.Config) { c.Connections = 32 })
	fund(t, db)
	_, err := db.Grant(ctx, imagegen.Grant{User: "bob", Credits: 1000})
	is.NoErr(err)
	is.NoErr(db.CreateUser(ctx, imagegen.User{ID: "alice", Name: "alice"}))
	outside := holding(t, s, url, `select from imagegend.accounts where usr = 'alice' for update`)
	waiting := make(chan error, 2)
	go func() {
		_, err := db.Grant(context.Background(), imagegen.Grant{User: "alice", Credits: 1})
		waiting <- err
	}()
	go func() { waiting <- db.SuspendUser(context.Background(), "alice", time.Now()) }()
	alone(t, db, 2)
	othersGoOn(t, db)
	is.Equal(len(waiting), 0)
	outside.commit()
	is.NoErr(<-waiting)
	is.NoErr(<-waiting)
}

// An account that somebody has opened and not committed holds up nobody else.
func TestAccountThatSomebodyOpens(t *testing.T) {
	s, is, ctx := postgrestest.Start(t), is.New(t), t.Context()
	url := s.Database(t)
	db := open(t, url, func(c *postgres.Config) { c.Connections = 32 })
	_, err := db.Grant(ctx, imagegen.Grant{User: "bob", Credits: 1000})
	is.NoErr(err)
	outside := holding(t, s, url, `insert into imagegend.accounts (usr) values ('alice')`)
	waiting := make(chan error, 1)
	go func() { waiting <- db.Charge(context.Background(), charged("alice", 1)) }()
	alone(t, db, 1)
	othersGoOn(t, db)
	outside.commit()
	is.True(errors.Is(<-waiting, imagegen.ErrInsufficientCredits))
}
