package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/postgres"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
)

// A process behind PgBouncer finds the server that was promoted. PgBouncer keeps the process's connections while the
// server behind it falls over and comes back as a standby, so the process has to leave them by itself.
func TestFailoverBehindPgBouncer(t *testing.T) {
	is := is.New(t)
	pair := postgrestest.StartPair(t, postgrestest.Synchronous)
	var ports []int
	for _, port := range pair.Ports() {
		ports = append(ports, pair.Pool(t, port).Port())
	}
	db := open(t, pair.Address("postgres", ports))
	fund(t, db)
	pair.Kill()
	pair.Promote(t)
	pair.Rejoin(t)
	eventually(t, "credits are granted by the new primary", func() bool {
		_, err := db.Grant(t.Context(), imagegen.Grant{User: "alice", Credits: 1, Ref: "after"})
		return err == nil
	})
	balance, err := db.Balance(t.Context(), "alice")
	is.NoErr(err)
	is.Equal(balance.Credits, imagegen.Credits(1001))
}

// Reads and writes while the database is away ask the caller to try again: it is not a fault of the service.
func TestReadsWithoutADatabase(t *testing.T) {
	is := is.New(t)
	pair := postgrestest.StartPair(t, postgrestest.Asynchronous)
	db := open(t, pair.Address("postgres", pair.Ports()))
	fund(t, db)
	pair.CatchUp(t) // the new primary is to have the schema and the account
	pair.Kill()
	for range 3 { // on a connection that was lost, and with none
		_, err := db.Balance(t.Context(), "alice")
		is.True(errors.Is(imagegen.ToUserError(err), imagegen.ErrOverloaded))
		_, _, err = db.Generations(t.Context(), "alice", imagegen.Query{Limit: 1})
		is.True(errors.Is(imagegen.ToUserError(err), imagegen.ErrOverloaded))
		_, err = db.Queued(t.Context(), "alice")
		is.True(errors.Is(imagegen.ToUserError(err), imagegen.ErrOverloaded))
		_, err = db.Generation(t.Context(), "gen_1")
		is.True(errors.Is(imagegen.ToUserError(err), imagegen.ErrOverloaded))
	}
	pair.Promote(t)
	eventually(t, "the balance is read from the new primary", func() bool {
		balance, err := db.Balance(t.Context(), "alice")
		return err == nil && balance.Credits == 1000
	})
}

// A database that does not answer in time is not a call that was cut off: the caller is asked to try again.
func TestASilentDatabaseIsNoDeadlineOfTheCaller(t *testing.T) {
	err := postgres.NotBegun(fmt.Errorf("timeout: %w", context.DeadlineExceeded))
	is.New(t).True(errors.Is(imagegen.ToUserError(err), imagegen.ErrOverloaded))
}
