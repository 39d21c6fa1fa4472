package postgres_test

import (
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
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
