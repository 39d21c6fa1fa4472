package postgres_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/postgres"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
)

// A call that is refused for what another of its batch did is not refused where that one changed nothing after all.
func TestRefusalInABatchThatFails(t *testing.T) {
	s, is := postgrestest.Start(t), is.New(t)
	url := s.Database(t)
	db := open(t, url)
	fund(t, db)
	is.NoErr(db.Charge(t.Context(), imagegen.Charge{ID: "c", User: "alice", Credits: 5, N: 1}))
	is.NoErr(s.Exec(databaseOf(t, url),
		`create function imagegend.refuse() returns trigger language plpgsql as 'begin raise exception ''refused''; end';
create trigger refuse before insert on imagegend.entries for each row execute function imagegend.refuse()`))
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

// An idempotency key that a record of a batch has taken is taken, also where a later call of the batch removes another
// record.
func TestKeyIsReservedOnceInABatch(t *testing.T) {
	is := is.New(t)
	db := open(t, postgrestest.Start(t).Database(t))
	gone, err := db.Create(t.Context(), record(1), time.Minute)
	is.NoErr(err)
	first, second := record(2), record(3)
	first.IdempotencyKey, second.IdempotencyKey = "same", "same"
	errs := db.CreateBesideAbandon(first, gone.Fence(), second)
	is.NoErr(errors.Join(errs[:2]...))
	reserved, ok := errors.AsType[*imagegen.IdempotencyKeyTakenError](errs[2])
	is.True(ok)
	is.Equal(reserved.Record.ID, first.ID)

	// Where it is the holder that is removed, the key is free, and the next holder comes behind those before.
	held, err := db.GenerationByIdempotencyKey(t.Context(), "alice", "same")
	is.NoErr(err)
	third := record(4)
	third.IdempotencyKey = "same"
	is.NoErr(errors.Join(db.CreateBesideAbandon(record(5), held.Fence(), third)...))
	held, err = db.GenerationByIdempotencyKey(t.Context(), "alice", "same")
	is.NoErr(err)
	is.Equal(held.ID, third.ID)
}

// A row that cannot be read fails the call that needs it, and no other of its batch.
func TestDamageFailsOneCallOfABatch(t *testing.T) {
	s := postgrestest.Start(t)
	for _, damage := range []string{
		`update imagegend.lots set spent = spent + 1 where usr = 'alice'`,
		`update imagegend.key_totals set open = -5 where usr = 'alice'`,
		`update imagegend.usage set failed = 5 where usr = 'alice'`,
		`update imagegend.accounts set spent = spent + 1 where usr = 'alice'`,
		`update imagegend.entries set charge = 'other' where usr = 'alice' and seq = 2`,
	} {
		t.Run(damage, func(t *testing.T) {
			is, url := is.New(t), s.Database(t)
			db := openDamaged(t, url)
			fund(t, db)
			_, err := db.Grant(t.Context(), imagegen.Grant{User: "bob", Credits: 100})
			is.NoErr(err)
			alices := imagegen.Charge{ID: "c", User: "alice", Credits: 5, N: 1, Key: "k"}
			is.NoErr(db.Charge(t.Context(), alices))
			is.NoErr(s.Exec(databaseOf(t, url), damage))
			errs := db.ChargeAtOnce(imagegen.Charge{ID: "b1", User: "bob", Credits: 5, N: 1}, alices,
				imagegen.Charge{ID: "b2", User: "bob", Credits: 5, N: 1})
			is.NoErr(errors.Join(errs[0], errs[2]))
			b, err := db.Balance(t.Context(), "bob")
			is.NoErr(err)
			is.Equal(b.Credits, imagegen.Credits(90))
		})
	}
}

// A charge whose account is gone, or whose entry is another user's, is refused: no call waits for ever for a lock that
// is not to be had.
func TestChargeThatCannotBeLocked(t *testing.T) {
	s := postgrestest.Start(t)
	for _, damage := range []string{
		`delete from imagegend.accounts where usr = 'alice'`,
		`insert into imagegend.accounts (usr) values ('bob'); update imagegend.entries set usr = 'bob' where usr = 'alice' and seq = 2;
 update imagegend.charges set usr = 'bob' where id = 'c'`,
	} {
		t.Run(damage, func(t *testing.T) {
			is, url := is.New(t), s.Database(t)
			db := openDamaged(t, url)
			fund(t, db)
			is.NoErr(db.Charge(t.Context(), imagegen.Charge{ID: "c", User: "alice", Credits: 5, N: 1}))
			is.NoErr(s.Exec(databaseOf(t, url), damage))
			is.True(db.Settle(t.Context(), "c", 0) != nil)
		})
	}
}

// Work whose charge cannot be read is put aside, and the work behind it is claimed.
func TestUnreadableChargeHoldsUpNobody(t *testing.T) {
	s, is := postgrestest.Start(t), is.New(t)
	url := s.Database(t)
	db := openDamaged(t, url)
	fund(t, db)
	_, err := db.Grant(t.Context(), imagegen.Grant{User: "bob", Credits: 100})
	is.NoErr(err)
	unreadable, whole := record(1), record(2)
	unreadable.References = []imagegen.ReferenceFile{{ID: "ref_1", MediaType: "image/png", Size: 1, Width: 1,
		Height: 1}}
	unreadable.Async, whole.Async, whole.User = true, true, "bob"
	for _, r := range []imagegen.Record{unreadable, whole} {
		_, err := db.CreateCharged(t.Context(), r, time.Minute)
		is.NoErr(err)
	}
	is.NoErr(s.Exec(databaseOf(t, url), `update imagegend.entries set charge = 'other' where usr = 'alice' and seq = 2`))
	claimed, _, err := db.Claim(t.Context(), imagegen.ClaimRequest{Most: 5, Lease: time.Minute})
	is.NoErr(err)
	is.Equal(len(claimed), 1)
	is.Equal(claimed[0].ID, whole.ID)
	named, err := db.NamedReferences(t.Context(), []imagegen.ReferenceID{"ref_1"}) // a sweep leaves them to an operator
	is.NoErr(err)
	is.Equal(named, []bool{true})
}

// A call that will always be in the way of something fails alone.
func TestContendedCallFailsAlone(t *testing.T) {
	s, is := postgrestest.Start(t), is.New(t)
	url := s.Database(t)
	db := openDamaged(t, url)
	fund(t, db)
	_, err := db.Grant(t.Context(), imagegen.Grant{User: "bob", Credits: 100})
	is.NoErr(err)
	is.NoErr(s.Exec(databaseOf(t, url),
		`update imagegend.accounts a set seq = seq - 1, hash = null where usr = 'alice'`))
	errs := db.ChargeAtOnce(imagegen.Charge{ID: "b1", User: "bob", Credits: 5, N: 1}, imagegen.Charge{ID: "a1",
		User: "alice", Credits: 5, N: 1})
	is.NoErr(errs[0])
	is.True(errs[1] != nil)
}

// openDamaged opens a database in which an audit is to find something.
func openDamaged(t *testing.T, url string) *postgres.DB {
	t.Helper()
	db, err := postgres.Open(context.Background(), postgres.Config{Migrate: true, URL: url, KeepFor: -1})
	is.New(t).NoErr(err)
	t.Cleanup(func() { is.New(t).NoErr(db.Close()) })
	return db
}

// A charge that comes between a settlement's locks and its reads is settled: nothing of it counts that was read without
// the lock of its account.
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
	_, err = other.Exec(t.Context(), "begin; select from imagegend.accounts where usr = 'bob' for update",
		pgx.QueryExecModeSimpleProtocol)
	is.NoErr(err)
	done := make(chan error, 1)
	go func() { done <- db.RefundBeside("c", "bob") }()
	eventually(t, "the settlement waits for bob's account", func() (waits bool) {
		is.NoErr(other.QueryRow(t.Context(),
			"select count(*) > 0 from pg_stat_activity where wait_event_type = 'Lock'").Scan(&waits))
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
