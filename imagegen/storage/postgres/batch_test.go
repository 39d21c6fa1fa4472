package postgres_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
)

// A call that is refused for what another of its batch did is not refused where that one changed nothing after all.
func TestRefusalInABatchThatFails(t *testing.T) {
	s, is := postgrestest.Start(t), is.New(t)
	url := s.Database(t)
	db := open(t, url)
	fund(t, db)
	is.NoErr(db.Charge(t.Context(), imagegen.Charge{ID: "c", User: "alice", Credits: 5, N: 1}))
	is.NoErr(s.Exec(databaseOf(t, url), `create function imagegend.refuse() returns trigger language plpgsql as 'begin raise exception ''refused''; end';
create trigger refuse before insert on imagegend.journal for each row execute function imagegend.refuse()`))
	for _, err := range db.SettleAtOnce("c", 1, 0) {
		is.True(errors.Is(err, imagegen.ErrNotApplied))
	}
	is.NoErr(s.Exec(databaseOf(t, url), `drop function imagegend.refuse cascade`))
	errs := db.SettleAtOnce("c", 0, 1)
	is.Equal(cmp.Diff([]error{nil, imagegen.ErrChargeConflict}, errs, cmpopts.EquateErrors()), "")
}

// A call that fails after it has written takes nothing of the others with it.
func TestCallThatSpoilsItsBatch(t *testing.T) {
	s, is := postgrestest.Start(t), is.New(t)
	db := open(t, s.Database(t))
	fund(t, db)
	of := func(id string) imagegen.Charge {
		return imagegen.Charge{ID: imagegen.ChargeID(id), User: "alice", Credits: 5, N: 1}
	}
	errs := db.SpoilAtOnce(of("a"), of("b"), of("spoilt"))
	is.Equal(cmp.Diff([]error{nil, nil, imagegen.ErrNotFound}, errs, cmpopts.EquateErrors()), "")
	b, err := db.Balance(t.Context(), "alice")
	is.NoErr(err)
	is.Equal(b.Credits, imagegen.Credits(990))
}
