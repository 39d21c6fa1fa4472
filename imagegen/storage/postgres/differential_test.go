package postgres_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
)

// house is a storage of those that are compared.
type house interface {
	imagegen.TxStore
	imagegen.CreditAdmin
	imagegen.Inspector
	imagegen.Timekeeper
}

// step is one operation on a house; what it returns is compared.
type step func(house) (any, error)

// The same operations leave the same credits, lots, journals, usage and records in every storage, whatever they are.
// Time passes when the test says so, and so no upkeep comes in between.
func TestDifferential(t *testing.T) {
	s := postgrestest.Start(t)
	synctest.Test(t, func(t *testing.T) { differ(t, s) })
}

func differ(t *testing.T, s *postgrestest.Server) {
	is := is.New(t)
	var passed atomic.Int64
	begin := time.Now().UTC().Truncate(time.Millisecond)
	now := func() time.Time { return begin.Add(time.Duration(passed.Load())).Truncate(time.Microsecond) }
	bolt, err := storage.Open(t.TempDir(), &storage.Options{Now: now})
	is.NoErr(err)
	t.Cleanup(func() { is.NoErr(bolt.Close()) })
	url := s.Database(t)
	houses := map[string]house{"memory": memory.New(&memory.Options{Now: now}), "bbolt": bolt,
		"postgres": open(t, url, by(now)), "postgres, another": open(t, url, by(now))}
	for _, name := range []string{"memory", "bbolt", "postgres"} {
		for n, u := range users {
			is.NoErr(houses[name].CreateUser(ctx, imagegen.User{ID: u, Name: string(u), CreatedAt: begin}))
			is.NoErr(houses[name].CreateKey(ctx, imagegen.Key{ID: keyOf(u), User: u, Hash: [32]byte{byte(n + 1)},
				CreatedAt: begin}))
		}
	}
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	turn := 0
	for n := range 250 {
		passed.Add(r.Int64N(int64(20 * time.Minute)))
		for _, h := range houses { // so that none takes several small steps of the clock for a leap
			h.Now()
		}
		do := randomStep(r, n, now())
		former := houses["memory"]
		want, wantErr := do(former)
		shared := []string{"postgres", "postgres, another"}[turn%2]
		turn++
		for _, name := range []string{"bbolt", shared} {
			got, err := do(houses[name])
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" ||
				fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Fatalf("seed %d, step %d: %s: %v, memory: %v\n%s", seed, n, name, err, wantErr, diff)
			}
		}
	}
	for _, u := range users {
		want := whole(t, houses["memory"], u)
		for name, h := range houses {
			if diff := cmp.Diff(want, whole(t, h, u), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("seed %d: %s of %s is not as memory has it:\n%s", seed, name, u, diff)
			}
		}
	}
	for name, h := range houses {
		report, err := h.Audit(t.Context())
		is.NoErr(err)
		for _, v := range report.Violations {
			if v.Rule != "image bytes" { // none was ever put
				t.Errorf("seed %d: %s: %v", seed, name, v)
			}
		}
	}
}

var users = []imagegen.UserID{"alice", "bob"}

// statement is all that there is of a user.
type statement struct {
	Balance imagegen.Balance
	Lots    []imagegen.Lot
	Journal []imagegen.Entry
	Usage   []imagegen.Usage
	Records []imagegen.Record
}

func whole(t *testing.T, h house, u imagegen.UserID) (s statement) {
	t.Helper()
	is, ctx := is.New(t), t.Context()
	var err error
	s.Balance, err = h.Balance(ctx, u)
	is.NoErr(err)
	s.Lots, err = h.Lots(ctx, u)
	is.NoErr(err)
	s.Journal, err = h.History(ctx, u, 0, 10_000)
	is.NoErr(err)
	s.Usage, err = h.Usage(ctx, u, imagegen.UsageQuery{From: time.Now().AddDate(0, 0, -1), To: time.Now().AddDate(0, 0,
		30)})
	is.NoErr(err)
	s.Records, _, err = h.Generations(ctx, u, imagegen.Query{Limit: imagegen.MaxPageSize})
	is.NoErr(err)
	return s
}

// randomStep makes an operation; what it is about may or may not be there.
func randomStep(r *rand.Rand, n int, now time.Time) step {
	u := users[r.IntN(len(users))]
	amount := imagegen.Credits(1 + r.IntN(12))
	some := imagegen.ChargeID(fmt.Sprint("charge ", r.IntN(n+1)))
	switch r.IntN(10) {
	case 0, 1:
		g := imagegen.Grant{User: u, Credits: amount, Promo: r.IntN(2) == 0, Priority: r.IntN(3),
			Ref: fmt.Sprint("ref ", r.IntN(n+1))}
		if r.IntN(2) == 0 {
			g.Expires = now.Add(time.Duration(1 + r.Int64N(int64(6*time.Hour))))
		}
		return func(h house) (any, error) { return h.Grant(ctx, g) }
	case 2:
		c := imagegen.Charge{ID: some, User: u, Credits: amount, Model: "m", N: 1}
		return func(h house) (any, error) { return nil, h.Charge(ctx, c) }
	case 3:
		used := imagegen.Credits(r.IntN(4))
		return func(h house) (any, error) { return nil, h.Settle(ctx, some, used) }
	case 4:
		return func(h house) (any, error) {
			return h.Revoke(ctx, imagegen.Revocation{User: u, Credits: amount, Ref: fmt.Sprint("ref ", n)})
		}
	case 5:
		g := randomRecord(r, n, u, now)
		return func(h house) (any, error) { return h.CreateCharged(ctx, g, time.Hour) }
	case 6:
		id, o := generation(r.IntN(n+1)), randomOutcome(r, n, now)
		return func(h house) (any, error) { return h.FinishSettled(ctx, imagegen.Fence{ID: id, Attempt: 1}, o) }
	case 7:
		limits := imagegen.KeyLimits{Credits: imagegen.Credits(r.IntN(3) * 30), Daily: imagegen.Credits(r.IntN(3) * 10),
			Concurrent: r.IntN(4)}
		return func(h house) (any, error) { return h.SetKeyLimits(ctx, keyOf(u), limits) }
	case 8:
		if r.IntN(3) == 0 {
			return func(h house) (any, error) { return nil, h.SuspendUser(ctx, u, now) }
		}
		return func(h house) (any, error) { return nil, h.ResumeUser(ctx, u) }
	}
	id := generation(r.IntN(n + 1))
	return func(h house) (any, error) { return h.Generation(ctx, id) }
}

func generation(n int) imagegen.GenerationID {
	return imagegen.GenerationID(fmt.Sprintf("gen_%026d", n))
}

func randomRecord(r *rand.Rand, n int, u imagegen.UserID, now time.Time) imagegen.Record {
	g := record(n)
	g.User, g.CreatedAt, g.Price, g.N = u, now, imagegen.Credits(1+r.IntN(3)), 1+r.IntN(3)
	g.IdempotencyKey = ""
	if r.IntN(2) == 0 {
		g.KeyID = keyOf(u)
	}
	if r.IntN(2) == 0 {
		g.IdempotencyKey = fmt.Sprint("key ", r.IntN(n+1))
	}
	return g
}

func keyOf(u imagegen.UserID) imagegen.KeyID { return imagegen.KeyID("key_" + u) }

// randomOutcome is a failure, a cancellation or an image.
func randomOutcome(r *rand.Rand, n int, now time.Time) imagegen.OutcomeChange {
	o := failed()
	switch o.At = now; r.IntN(3) {
	case 0:
		o.Failure = nil
		o.Images = []imagegen.StoredImage{{ID: imagegen.ImageID(fmt.Sprintf("image_%026d%026d", n, 0)), Attempt: 1,
			MediaType: "image/png", Width: 8, Height: 8, Size: 8, CreatedAt: now}}
	case 1:
		o.Cancelled, o.Failure = true, &imagegen.Failure{Class: imagegen.ClassCancelled, Detail: "cancelled"}
	}
	return o
}

var ctx = context.Background()
