package postgres_test

import (
	"errors"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/postgres"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
	"github.com/imagegend/imagegend/imagegen/storage/transfer"
)

// A node that has a database open from which everything is being moved can add, change and remove nothing there, and
// is not ready.
func TestNothingChangesWhereAMoveBegan(t *testing.T) {
	is, url := is.New(t), postgrestest.Start(t).Database(t)
	db := open(t, url)
	fund(t, db)
	intent, err := db.Create(t.Context(), record(1), time.Minute)
	is.NoErr(err)
	e, err := postgres.OpenTransferEndpoint(t.Context(), postgres.Config{Migrate: true, URL: url})
	is.NoErr(err)
	defer e.Close()
	none, err := e.Mark(t.Context())
	is.NoErr(err)
	leaving := transfer.Mark{State: transfer.Leaving}
	is.NoErr(e.SetMark(t.Context(), none, leaving))
	is.True(errors.Is(db.Ready(t.Context()), transfer.ErrMoved))

	_, err = db.Update(t.Context(), intent.Fence(), imagegen.AbandonChange{})
	is.True(errors.Is(err, imagegen.ErrNotApplied))
	is.True(errors.Is(db.Charge(t.Context(), imagegen.Charge{ID: "c", User: "alice", Credits: 5, N: 1}),
		imagegen.ErrNotApplied))
	_, err = db.Create(t.Context(), record(2), time.Minute)
	is.True(errors.Is(err, imagegen.ErrNotApplied))

	is.NoErr(e.SetMark(t.Context(), leaving, none)) // it was called off
	is.NoErr(db.Ready(t.Context()))
	_, err = db.Update(t.Context(), intent.Fence(), imagegen.AbandonChange{})
	is.NoErr(err)
}
