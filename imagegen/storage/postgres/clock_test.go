package postgres_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/postgres"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
)

// pairByClock is two processes on one database, whose clock can be set ahead of the true time.
type pairByClock struct {
	is    *is.I
	a, b  *postgres.DB
	ahead atomic.Int64
	other *pgx.Conn // for locks that keep one of them waiting
	watch *pgx.Conn
}

func startPairByClock(t *testing.T, ahead time.Duration) *pairByClock {
	t.Helper()
	s, p := postgrestest.Start(t), &pairByClock{is: is.New(t)}
	p.ahead.Store(int64(ahead))
	url := s.Database(t)
	now := by(func() time.Time { return time.Now().Add(time.Duration(p.ahead.Load())) })
	p.a, p.b = open(t, url, now), open(t, url, now)
	for _, c := range []**pgx.Conn{&p.other, &p.watch} {
		conn, err := pgx.Connect(t.Context(), s.Address(databaseOf(t, url)))
		p.is.NoErr(err)
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
		*c = conn
	}
	return p
}

// wait returns once so many transactions wait for locks.
func (p *pairByClock) wait(t *testing.T, many int) {
	t.Helper()
	eventually(t, "transactions wait for locks", func() (waits bool) {
		p.is.NoErr(p.watch.QueryRow(t.Context(),
			"select count(*) >= $1 from pg_stat_activity where wait_event_type = 'Lock'", many).Scan(&waits))
		return waits
	})
}

// A confirmation of the clock stands, also where another process was about to write the clock as it was before.
func TestConfirmationStandsBesideAWrite(t *testing.T) {
	p := startPairByClock(t, 0)
	fund(t, p.a)
	p.is.NoErr(p.b.Charge(t.Context(), imagegen.Charge{ID: "c0", User: "alice", Credits: 5, N: 1}))
	p.ahead.Store(int64(3 * time.Hour))
	// b has decided, by the clock in doubt, and waits for the place of its entry in the journal.
	_, err := p.other.Exec(t.Context(),
		`begin; insert into imagegend.entries (usr, seq, epoch, kind, credits, used, balance, images, cancelled, hash) select usr, seq + 1, 0, 'grant', 0, 0, 0, 0, false, '' from imagegend.accounts where usr = 'alice'`, pgx.QueryExecModeSimpleProtocol)
	p.is.NoErr(err)
	done := make(chan error, 1)
	go func() {
		done <- p.b.Charge(context.Background(), imagegen.Charge{ID: "c1", User: "alice", Credits: 5, N: 1})
	}()
	p.wait(t, 1)
	p.is.NoErr(p.a.ConfirmClock(t.Context()))
	_, err = p.a.Grant(t.Context(), imagegen.Grant{User: "bob", Credits: 100})
	p.is.NoErr(err)
	_, err = p.other.Exec(t.Context(), "rollback")
	p.is.NoErr(err)
	p.is.NoErr(<-done)
	p.is.NoErr(p.b.Charge(t.Context(), imagegen.Charge{ID: "c2", User: "bob", Credits: 5, N: 1}))
	p.is.NoErr(p.a.Charge(t.Context(), imagegen.Charge{ID: "c3", User: "bob", Credits: 5, N: 1}))
}

// A process writes nothing off by a time that another one has corrected.
func TestNothingExpiresByACorrectedTime(t *testing.T) {
	p := startPairByClock(t, 365*24*time.Hour)
	fund(t, p.a)
	p.is.NoErr(p.b.Charge(t.Context(), imagegen.Charge{ID: "c0", User: "alice", Credits: 5, N: 1}))
	p.ahead.Store(0)
	p.is.NoErr(p.a.ConfirmClock(t.Context()))
	_, err := p.a.Grant(t.Context(), imagegen.Grant{User: "bob", Credits: 100,
		Expires: time.Now().Add(30 * 24 * time.Hour)})
	p.is.NoErr(err)
	p.is.NoErr(p.b.ExpireAll(t.Context()))
	b, err := p.a.Balance(t.Context(), "bob")
	p.is.NoErr(err)
	p.is.Equal(b.Credits, imagegen.Credits(100))
}

// A void of a charge that never was, decided while the clock is confirmed, is carried out.
func TestVoidBesideAConfirmation(t *testing.T) {
	p := startPairByClock(t, 0)
	p.is.NoErr(p.a.Settle(t.Context(), "first", 0))
	p.ahead.Store(int64(3 * time.Hour))
	p.is.NoErr(p.a.ExpireAll(t.Context()))
	_, err := p.other.Exec(t.Context(), "begin; select from imagegend.accounts where usr = '' for update",
		pgx.QueryExecModeSimpleProtocol)
	p.is.NoErr(err)
	confirmed, voided := make(chan error, 1), make(chan error, 1)
	go func() { confirmed <- p.a.ConfirmClock(context.Background()) }()
	p.wait(t, 1)
	go func() { voided <- p.b.Settle(context.Background(), "second", 0) }()
	p.wait(t, 2)
	_, err = p.other.Exec(t.Context(), "commit")
	p.is.NoErr(err)
	p.is.NoErr(<-confirmed)
	p.is.NoErr(<-voided)
}

// What a fast clock has leased or delayed is recovered and claimed in time once the clock is right, and no sooner.
func TestLeasesAcrossACorrection(t *testing.T) {
	p := startPairByClock(t, 365*24*time.Hour)
	ctx := t.Context()
	fund(t, p.a)
	for n := range 2 {
		r := record(n + 1)
		r.Async, r.Attempt, r.CreatedAt = true, 0, p.a.Now()
		_, err := p.a.CreateCharged(ctx, r, time.Hour)
		p.is.NoErr(err)
	}
	claim := imagegen.ClaimRequest{Most: 10, Lease: time.Hour}
	begun, _, err := p.a.Claim(ctx, claim)
	p.is.NoErr(err)
	p.is.Equal(len(begun), 2)
	_, err = p.a.Update(ctx, begun[0].Fence(), imagegen.ReleaseChange{Delay: time.Hour, Failed: true})
	p.is.NoErr(err)
	p.ahead.Store(0)
	p.a.Now()
	p.b.Now()
	p.is.NoErr(p.a.ConfirmClock(ctx))
	has := func(claimed, recovered int) {
		t.Helper()
		got, _, err := p.b.Claim(ctx, claim)
		p.is.NoErr(err)
		p.is.Equal(len(got), claimed)
		got, err = p.b.Recover(ctx, 10, time.Hour)
		p.is.NoErr(err)
		p.is.Equal(len(got), recovered)
	}
	p.ahead.Store(int64(50 * time.Minute))
	has(0, 0)
	p.ahead.Store(int64(65 * time.Minute))
	has(1, 1)
}

// A confirmation that has to wait shortens no lease.
func TestLeasesAcrossASlowCorrection(t *testing.T) {
	p := startPairByClock(t, 365*24*time.Hour)
	ctx := t.Context()
	fund(t, p.a)
	r := record(1)
	r.CreatedAt = p.a.Now()
	_, err := p.a.Create(ctx, r, time.Hour)
	p.is.NoErr(err)
	p.ahead.Store(0)
	p.a.Now()
	_, err = p.other.Exec(ctx, "begin; select from imagegend.acts for update", pgx.QueryExecModeSimpleProtocol)
	p.is.NoErr(err)
	done := make(chan error, 1)
	go func() { done <- p.a.ConfirmClock(context.Background()) }()
	p.wait(t, 1)
	p.ahead.Store(int64(20 * time.Minute))
	_, err = p.other.Exec(ctx, "rollback")
	p.is.NoErr(err)
	p.is.NoErr(<-done)
	p.ahead.Store(int64(20*time.Minute + 50*time.Minute))
	got, err := p.b.Recover(ctx, 10, time.Hour)
	p.is.NoErr(err)
	p.is.Equal(len(got), 0)
	p.ahead.Store(int64(20*time.Minute + 65*time.Minute))
	got, err = p.b.Recover(ctx, 10, time.Hour)
	p.is.NoErr(err)
	p.is.Equal(len(got), 1)
}

// A row of the trail that a process wrote by a time which another one has corrected is removed at its age.
func TestTrailOfAProcessBehindACorrection(t *testing.T) {
	p := startPairByClock(t, 365*24*time.Hour)
	ctx := t.Context()
	fund(t, p.a)
	p.is.NoErr(p.b.Note(ctx, account.TrailRow{Act: "a.b"}))
	p.ahead.Store(0)
	p.a.Now()
	p.b.Now()
	p.is.NoErr(p.a.ConfirmClock(ctx))
	p.is.NoErr(p.b.Note(ctx, account.TrailRow{Act: "a.b"}))
	page, err := p.a.Trail(ctx, account.TrailQuery{Limit: 10})
	p.is.NoErr(err)
	p.is.Equal(len(page.Rows), 4) // with the grant and the confirmation
	for range 30 {
		p.ahead.Add(int64(50 * time.Minute))
		p.a.Now()
		p.b.Now()
	}
	p.is.NoErr(p.a.Note(ctx, account.TrailRow{Act: "a.c"}))
	p.is.NoErr(p.a.TidyTrail(ctx, p.a.Now().Add(-time.Hour)))
	page, err = p.a.Trail(ctx, account.TrailQuery{Limit: 10})
	p.is.NoErr(err)
	p.is.Equal(len(page.Rows), 1)
}

// A clock that ran fast from the first start on is in doubt once it is right, also if that process was killed at once.
func TestFastClockBeforeAKill(t *testing.T) {
	is, url := is.New(t), postgrestest.Start(t).Database(t)
	open(t, url, by(func() time.Time { return time.Now().AddDate(5, 0, 0) }))
	_, doubt := open(t, url, by(time.Now)).ClockInDoubt()
	is.True(doubt)
}
