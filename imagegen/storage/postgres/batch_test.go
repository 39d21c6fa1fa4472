package postgres_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"
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

// A charge that comes between a settlement's locks and its reads is settled: nothing of it counts that was read without the lock
// of its account.
func TestChargeComesBetweenLocksAndReads(t *testing.T) {
	s, is := postgrestest.Start(t), is.New(t)
	url := s.Database(t)
	db, elsewhere := open(t, url), open(t, url)
	fund(t, db)
	_, err := db.Grant(t.Context(), imagegen.Grant{User: "bob", Credits: 1})
	is.NoErr(err)
	other, err := pgx.Connect(t.Context(), s.Address(databaseOf(t, url)))
	is.NoErr(err)
	defer other.Close(context.Background())
	_, err = other.Exec(t.Context(), "begin; select from imagegend.accounts where usr = 'bob' for update", pgx.QueryExecModeSimpleProtocol)
	is.NoErr(err)
	done := make(chan error, 1)
	go func() { done <- db.RefundBeside("c", "bob") }()
	eventually(t, "the settlement waits for bob's account", func() (waits bool) {
		is.NoErr(other.QueryRow(t.Context(), "select count(*) > 0 from pg_stat_activity where wait_event_type = 'Lock'").Scan(&waits))
		return waits
	})
	is.NoErr(elsewhere.Charge(t.Context(), imagegen.Charge{ID: "c", User: "alice", Credits: 5, N: 1}))
	_, err = other.Exec(t.Context(), "commit")
	is.NoErr(err)
	is.NoErr(<-done)
	b, err := db.Balance(t.Context(), "alice")
	is.NoErr(err)
	is.Equal(b.Credits, imagegen.Credits(1000))
}
