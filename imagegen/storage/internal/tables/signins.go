package tables

import (
	"context"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/table"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

// A sign-in's row is found by the hash of the cookie's value, which every request to the console sends.
var (
	signIns     = table.New("signins", func(s *account.SignIn) []byte { return s.Hash[:] }, codeSignIn).Witnessed()
	userSignIns = signIns.Index("users", func(s *account.SignIn) []byte { return kv.Key(string(s.User)) })
)

// CreateSignIn implements [account.LoginStore]. If the sign-in exists it is replaced, without a row in the audit
// trail: this is a repetition. imagegen.ErrInvalidRequest: the user's identifier is not valid.
func (t *Tables) CreateSignIn(ctx context.Context, s account.SignIn) error {
	if err := s.User.Check(); err != nil {
		return err
	}
	return t.act(ctx, account.ActSignIn, func(tx kv.Tx) (trail.Change, error) {
		if former, err := signIns.Get(tx, s.Hash[:]); err == nil {
			signIns.Put(tx, &former, &s)
			return trail.Change{}, nil
		}
		signIns.Put(tx, nil, &s)
		return trail.SignedIn(s), nil
	})
}

// SignIn implements [account.LoginStore].
func (t *Tables) SignIn(ctx context.Context, hash [32]byte) (account.SignIn, error) {
	return view(ctx, t.db, func(tx kv.Tx) (account.SignIn, error) { return signIns.Get(tx, hash[:]) })
}

// SignIns implements [account.LoginStore]. It leaves out what cannot be read: nobody can use that either.
func (t *Tables) SignIns(ctx context.Context, u imagegen.UserID) ([]account.SignIn, error) {
	all, err := view(ctx, t.db, func(tx kv.Tx) ([]account.SignIn, error) { return signInsOf(tx, u), nil })
	slices.SortStableFunc(all, func(a, b account.SignIn) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return all, err
}

// TouchSignIn implements [account.LoginStore]. The time only rises, whatever the order of concurrent calls.
func (t *Tables) TouchSignIn(ctx context.Context, hash [32]byte, at time.Time) error {
	latest := t.books.Read().Latest()
	return t.db.Update(ctx, func(tx kv.Tx) error {
		from, err := signIns.Get(tx, hash[:])
		if err != nil || !at.After(from.SeenAt) && !from.SeenAt.After(latest) {
			return nil
		}
		to := from
		to.SeenAt = at
		signIns.Put(tx, &from, &to)
		return nil
	})
}

// ConfirmSignIn implements [account.LoginStore].
func (t *Tables) ConfirmSignIn(ctx context.Context, hash [32]byte, at time.Time) error {
	return t.db.Update(ctx, func(tx kv.Tx) error {
		from, err := signIns.Get(tx, hash[:])
		if err != nil {
			return err
		}
		to := from
		to.ConfirmedAt = at
		signIns.Put(tx, &from, &to)
		return nil
	})
}

// EndSignIns implements [account.LoginStore]. It ends no sign-in of another user, whatever hashes are named.
func (t *Tables) EndSignIns(ctx context.Context, u imagegen.UserID, hashes ...[32]byte) error {
	return t.act(ctx, account.ActSignOut, func(tx kv.Tx) (trail.Change, error) {
		end := slices.DeleteFunc(signInsOf(tx, u), func(s account.SignIn) bool {
			return len(hashes) > 0 && !slices.Contains(hashes, s.Hash)
		})
		endSignIns(tx, end...)
		return trail.SignedOut(u, len(end)), nil
	})
}

// signInsAtOnce is how many sign-ins one transaction of EndSignInsAged looks at, so that it stays short.
const signInsAtOnce = 1000

// EndSignInsAged implements [account.LoginStore]. It goes over all sign-ins in short transactions, of which only those
// write that find one to end; after an error what is durable stays. What ends by age leaves no row in the audit trail.
func (t *Tables) EndSignInsAged(ctx context.Context, idle, whole time.Duration) error {
	at := t.books.Read()
	aged := func(s account.SignIn) bool { return at.Age(s.SeenAt) >= idle || at.Age(s.CreatedAt) >= whole }
	for after, more := []byte(nil), true; more; {
		var over [][]byte
		err := t.db.View(ctx, func(tx kv.Tx) error {
			over, more = nil, false
			n := 0
			tx.Ascend(signIns.Name(), after, func(hash, stored []byte) bool {
				if n++; n > signInsAtOnce {
					after, more = slices.Clone(hash), true
					return false
				}
				if s, err := signIns.Decode(stored); err == nil && aged(s) {
					over = append(over, slices.Clone(hash))
				}
				return true
			})
			return nil
		})
		if err == nil && len(over) > 0 {
			err = t.endAgedSignIns(ctx, over, aged)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// endAgedSignIns removes those of some sign-ins that are still aged: one may have been used since it was looked at.
func (t *Tables) endAgedSignIns(ctx context.Context, hashes [][]byte, aged func(account.SignIn) bool) error {
	return t.db.Update(ctx, func(tx kv.Tx) error {
		for _, hash := range hashes {
			if s, err := signIns.Get(tx, hash); err == nil && aged(s) {
				endSignIns(tx, s)
			}
		}
		return nil
	})
}

// signInsOf lists a user's sign-ins, by hash. One that cannot be read does not count.
func signInsOf(tx kv.Tx, u imagegen.UserID) (all []account.SignIn) {
	for hash := range userSignIns.Keys(tx, kv.Key(string(u))) {
		if s, err := userSignIns.Get(tx, hash); err == nil {
			all = append(all, s)
		}
	}
	return all
}

// endSignIns removes sign-ins, which are as they were read.
func endSignIns(tx kv.Tx, all ...account.SignIn) {
	for _, s := range all {
		signIns.Remove(tx, &s)
	}
}
