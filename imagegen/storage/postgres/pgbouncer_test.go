package postgres_test

import (
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
	"github.com/imagegend/imagegend/imagegen/storage/storagetest"
)

// Nothing of a session is relied on: behind PgBouncer in transaction mode each transaction has another one.
func TestPgBouncer(t *testing.T) {
	s := postgrestest.Start(t)
	storagetest.Joint(t, func(t *testing.T) (imagegen.TxStore, imagegen.CreditAdmin) {
		db := openHosted(t, s.Pooled(t, s.Database(t))+"&default_query_exec_mode=cache_describe")
		return db, db
	})
}
