package postgres

import (
	"context"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
)

// rowsDB runs the operations of the ledger that have transactions of their own. Its updates run one at a time, so
// charges and settlements, which come with every request, do not go this way but through the committer.
type rowsDB struct{ db *DB }

var _ ledger.Store = rowsDB{}

// View implements ledger.Store.
func (r rowsDB) View(ctx context.Context, f func(ledger.Tx) error) error {
	return r.db.view(ctx, func(s *session) error { return f(s) })
}

// Update implements ledger.Store.
func (r rowsDB) Update(ctx context.Context, f func(ledger.Tx) error) error {
	return r.db.update(ctx, func(s *session) error { return f(s) })
}

// Charge implements [imagegen.Ledger]. For a user whose name is not valid no account is locked, since locking would
// open one; the rules refuse the charge.
func (db *DB) Charge(ctx context.Context, c imagegen.Charge) error {
	n := need{charges: []imagegen.ChargeID{c.ID}}
	if c.User.Valid() {
		n.users = append(n.users, c.User)
		n.billed = map[keyOf]bool{{c.User, c.Key}: true}
	}
	return db.write(ctx, string(c.User), n, func(s *session) error { return db.books.At(s, s.at).Charge(c, imagegen.Key{}) })
}

// Settle implements [imagegen.Ledger]. Whose account is locked follows from the charge (lockAccounts).
func (db *DB) Settle(ctx context.Context, id imagegen.ChargeID, used imagegen.Credits) error {
	return db.write(ctx, string(id), need{charges: []imagegen.ChargeID{id}}, func(s *session) error { return db.books.At(s, s.at).Settle(id, used) })
}

// Balance implements [imagegen.Ledger].
func (db *DB) Balance(ctx context.Context, u imagegen.UserID) (imagegen.Balance, error) {
	return db.books.Balance(ctx, u)
}

// Grant implements [imagegen.CreditAdmin].
func (db *DB) Grant(ctx context.Context, g imagegen.Grant) (imagegen.Granted, error) {
	return db.books.Grant(ctx, g)
}

// Revoke implements [imagegen.CreditAdmin].
func (db *DB) Revoke(ctx context.Context, r imagegen.Revocation) (imagegen.Revoked, error) {
	return db.books.Revoke(ctx, r)
}

// Lots implements [imagegen.CreditAdmin].
func (db *DB) Lots(ctx context.Context, u imagegen.UserID) ([]imagegen.Lot, error) {
	return db.books.Lots(ctx, u)
}

// Holdings implements [imagegen.CreditAdmin].
func (db *DB) Holdings(ctx context.Context, u imagegen.UserID, n int) (imagegen.Holdings, error) {
	return db.books.Holdings(ctx, u, n)
}

// History implements [imagegen.CreditAdmin].
func (db *DB) History(ctx context.Context, u imagegen.UserID, before uint64, limit int) ([]imagegen.Entry, error) {
	return db.books.History(ctx, u, before, limit)
}

// Usage implements [imagegen.CreditAdmin].
func (db *DB) Usage(ctx context.Context, u imagegen.UserID, q imagegen.UsageQuery) ([]imagegen.Usage, error) {
	return db.books.Usage(ctx, u, q)
}

// EachUsage implements [imagegen.CreditAdmin].
func (db *DB) EachUsage(ctx context.Context, from, to time.Time, f func(imagegen.UserID, imagegen.Usage)) error {
	return db.books.EachUsage(ctx, from, to, f)
}

// KeyUse implements [imagegen.CreditAdmin].
func (db *DB) KeyUse(ctx context.Context, u imagegen.UserID, k imagegen.KeyID) (imagegen.KeyUse, error) {
	return db.books.KeyUse(ctx, u, k)
}

// Now implements [imagegen.Timekeeper]: the database's clock, as this process knows it, and judged as package clock
// judges it. It asks the database nothing.
func (db *DB) Now() time.Time { return db.books.Now() }

// ClockInDoubt implements [imagegen.Timekeeper].
func (db *DB) ClockInDoubt() (leap time.Duration, doubt bool) { return db.books.ClockInDoubt() }

// ConfirmClock implements [imagegen.Timekeeper]. Other processes learn of it with their next write (scanNow).
func (db *DB) ConfirmClock(ctx context.Context) error { return db.books.ConfirmClock(ctx) }
