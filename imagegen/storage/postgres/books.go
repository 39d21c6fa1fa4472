package postgres

import (
	"context"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
)

// rowsDB runs the operations of the ledger that have transactions of their own. Its updates run one at a time, so
// charges and settlements, which come with every request, do not go this way but through the committer.
type rowsDB struct{ db *DB }

var (
	_ ledger.Store      = rowsDB{}
	_ ledger.Foreseeing = rowsDB{}
)

// View implements ledger.Store.
func (r rowsDB) View(ctx context.Context, f func(ledger.Tx) error) error {
	return r.db.view(ctx, func(s *session) error { return f(s) })
}

// Update implements ledger.Store.
func (r rowsDB) Update(ctx context.Context, f func(ledger.Tx) error) error {
	return r.db.update(ctx, func(s *session) error { return f(&s.kept) })
}

// UpdateAccount implements ledger.Foreseeing. The transaction is a kv.Tx too, since a grant looks at the user.
func (r rowsDB) UpdateAccount(ctx context.Context, u imagegen.UserID, ref string, f func(ledger.Tx) error) error {
	var n need
	if u.Valid() { // else the rules refuse the act
		n.users, n.kept = append(n.users, u), append(n.kept, u)
	}
	if ref != "" && storable(ref) {
		n.refs = append(n.refs, ref)
	}
	return r.db.act(ctx, books, n, func(s *session) error { return f(&s.kept) })
}

// Charge implements [imagegen.Ledger]. For a user whose name is not valid no account is locked, since locking would
// open one; the rules refuse the charge.
func (db *DB) Charge(ctx context.Context, c imagegen.Charge) error {
	n := need{charges: []imagegen.ChargeID{c.ID}}
	if c.User.Valid() {
		n.users = append(n.users, c.User)
		n.billed = billedBy(c)
	}
	return db.batched(ctx, string(c.User), n, func(s *session) error {
		return db.books.At(s, s.at).Charge(c, ledger.Asker{})
	})
}

// Settle implements [imagegen.Ledger]. Whose account is locked follows from the charge (lockAccounts).
func (db *DB) Settle(ctx context.Context, id imagegen.ChargeID, used imagegen.Credits) error {
	return db.batched(ctx, string(id), need{charges: []imagegen.ChargeID{id}}, func(s *session) error {
		return db.books.At(s, s.at).Settle(id, used)
	})
}
