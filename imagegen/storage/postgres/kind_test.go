package postgres_test

import (
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen/storage/postgres"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
)

// Each field of whatever lies in columns comes back as it was written: one that was added has a column.
func TestEveryFieldHasAColumn(t *testing.T) {
	db := openDamaged(t, postgrestest.Start(t).Database(t))
	for _, name := range postgres.Shelves() {
		t.Run(name, func(t *testing.T) {
			written, read, err := db.WriteFilled(t.Context(), name)
			is := is.New(t)
			is.NoErr(err)
			is.True(len(written) > 0)
			is.Equal(read, written)
		})
	}
}
