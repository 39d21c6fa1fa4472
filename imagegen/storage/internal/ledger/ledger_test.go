package ledger_test

import (
	"cmp"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv/kvtest"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger/ledgerkv"
	"github.com/imagegend/imagegend/imagegen/storage/storagetest"
)

// stores are the homes of a ledger.
var stores = map[string]func() home{
	"key-value": func() home { return inKV(kvtest.New()) },
	"memory": func() home {
		m := ledger.NewMemory(func(account.TrailRow) error { return nil })
		return home{m, func(ctx context.Context, report func(imagegen.Violation)) (counts ledger.Counts, err error) {
			err = m.Look(ctx, func(r ledger.Rows) error {
				counts, err = ledger.Audit(ctx, r, report)
				return err
			})
			return counts, err
		}}
	},
}

// home is where a ledger is kept, and what checks it there.
type home struct {
	ledger.Store
	check func(context.Context, func(imagegen.Violation)) (ledger.Counts, error)
}

func inKV(db kv.DB) home {
	return home{ledgerkv.Store{DB: db}, func(ctx context.Context, report func(imagegen.Violation)) (
		counts ledger.Counts, err error) {
		err = db.View(ctx, func(tx kv.Tx) error {
			counts, err = ledgerkv.Audit(ctx, tx, report)
			return err
		})
		return counts, err
	}}
}

func TestContract(t *testing.T) {
	for name, home := range stores {
		t.Run(name, func(t *testing.T) { contract(t, home) })
	}
}

func contract(t *testing.T, at func() home) {
	storagetest.CreditAdmin(t, func(t *testing.T, now func() time.Time) imagegen.CreditAdmin {
		h := at()
		l, err := ledger.New(h, now)
		is.New(t).NoErr(err)
		return audited{l, h}
	})
}

// Operations are pure functions of the transaction: one that is run again gives the same.
func TestContractWhenRunAgain(t *testing.T) {
	contract(t, func() home { return inKV(again{kvtest.New()}) })
}

// again rolls each transaction back once before it commits it.
type again struct{ *kvtest.DB }

func (db again) Update(ctx context.Context, f func(kv.Tx) error) error {
	rollBack := errors.New("once more")
	err := db.DB.Update(ctx, func(tx kv.Tx) error { return cmp.Or(f(tx), rollBack) })
	if err != rollBack {
		return err
	}
	return db.DB.Update(ctx, f)
}

// audited is a ledger that the suite can audit.
type audited struct {
	*ledger.Ledger
	home home
}

func (a audited) Audit(ctx context.Context) (r imagegen.AuditReport, err error) {
	_, err = a.home.check(ctx, func(v imagegen.Violation) { r.Violations = append(r.Violations, v) })
	return r, err
}

// fixture is a ledger that can be opened again.
type fixture struct {
	*testing.T
	*ledger.Ledger
	is   *is.I
	db   *kvtest.DB // nil: it is in memory
	home home
}

func open(t *testing.T) *fixture {
	t.Helper()
	db := kvtest.New()
	f := openAt(t, inKV(db))
	f.db = db
	return f
}

func openAt(t *testing.T, h home) *fixture {
	t.Helper()
	f := &fixture{T: t, is: is.New(t), home: h}
	f.reopen(time.Now)
	return f
}

func (f *fixture) reopen(now func() time.Time) {
	f.Helper()
	var err error
	f.Ledger, err = ledger.New(f.home, now)
	f.is.NoErr(err)
}

func (f *fixture) violations() []imagegen.Violation {
	f.Helper()
	report, err := audited{f.Ledger, f.home}.Audit(f.Context())
	f.is.NoErr(err)
	return report.Violations
}

func (f *fixture) sound() {
	f.Helper()
	for _, v := range f.violations() {
		f.Errorf("%s: %s: %s", v.Rule, v.Subject, v.Detail)
	}
}

func (f *fixture) credits(u imagegen.UserID) imagegen.Credits {
	f.Helper()
	b, err := f.Balance(f.Context(), u)
	f.is.NoErr(err)
	return b.Credits
}

func (f *fixture) grant(g imagegen.Grant) imagegen.Lot {
	f.Helper()
	l, err := f.Grant(f.Context(), g)
	f.is.NoErr(err)
	return l.Lot
}

func (f *fixture) charge(id string, u imagegen.UserID, c imagegen.Credits) {
	f.Helper()
	f.is.NoErr(f.Charge(f.Context(), imagegen.Charge{ID: imagegen.ChargeID(id), User: u, Credits: c}))
}

// chargeKey is charge on behalf of an API key.
func (f *fixture) chargeKey(id string, u imagegen.UserID, c imagegen.Credits) {
	f.Helper()
	f.is.NoErr(f.Charge(f.Context(), imagegen.Charge{ID: imagegen.ChargeID(id), User: u, Credits: c, Model: "m",
		Key: "key_1", N: int(c)}))
}

func (f *fixture) settle(id string, used imagegen.Credits) {
	f.Helper()
	f.is.NoErr(f.Settle(f.Context(), imagegen.ChargeID(id), used))
}

func (f *fixture) lots(u imagegen.UserID) []imagegen.Lot {
	f.Helper()
	lots, err := f.Lots(f.Context(), u)
	f.is.NoErr(err)
	return lots
}

// size is how many pairs a bucket has.
func (f *fixture) size(b kv.Bucket) (n int) {
	f.Helper()
	f.is.NoErr(f.db.View(f.Context(), func(tx kv.Tx) error {
		n = 0
		tx.Ascend(b, nil, func(_, _ []byte) bool { n++; return true })
		return nil
	}))
	return n
}

// The database has all of the ledger: it remembers nothing that another handle would not know.
func TestSharedLedger(t *testing.T) {
	storagetest.SharedCreditAdmin(t, func(t *testing.T, now func() time.Time) (one, other imagegen.CreditAdmin) {
		is, home := is.New(t), inKV(kvtest.New())
		one, err := ledger.New(home, now)
		is.NoErr(err)
		other, err = ledger.New(home, now)
		is.NoErr(err)
		return one, other
	})
}
