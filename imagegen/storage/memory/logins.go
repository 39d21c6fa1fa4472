package memory

import (
	"context"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

// logins implements the part of account.LoginStore about passwords, sign-ins and invitations, in the transactions of a
// store.
type logins struct {
	*store
	logins      map[imagegen.UserID]account.Login
	signIns     map[[32]byte]account.SignIn
	invitations map[[32]byte]account.Invitation
}

func newLogins(s *store) *logins {
	return &logins{s, make(map[imagegen.UserID]account.Login), make(map[[32]byte]account.SignIn),
		make(map[[32]byte]account.Invitation)}
}

// Login implements [account.LoginStore].
func (l *logins) Login(ctx context.Context, u imagegen.UserID) (login account.Login, err error) {
	err = l.view(ctx, func() (err error) { login, err = found(l.logins, u); return err })
	return login, err
}

// SetLogin implements [account.LoginStore]. The sign-ins that it ends have no rows of their own in the audit trail.
func (l *logins) SetLogin(ctx context.Context, to account.Login) error {
	if err := to.User.Check(); err != nil {
		return err
	}
	return l.act(ctx, account.ActUserPassword, func() (trail.Change, error) {
		from, there := l.logins[to.User]
		if !there || from.Password != to.Password {
			l.removeSignIns(l.signInsOf(to.User))
		}
		l.logins[to.User] = to
		return trail.LoginSet(from, to), nil
	})
}

// Operators implements [account.LoginStore]. It counts users whom the store does not know, since an embedder may have
// users of its own.
func (l *logins) Operators(ctx context.Context) (n int, err error) {
	err = l.view(ctx, func() error {
		for u, login := range l.logins {
			if login.Role == account.RoleOperator && login.Password != "" && l.users[u].DisabledAt.IsZero() {
				n++
			}
		}
		return nil
	})
	return n, err
}

// CreateSignIn implements [account.LoginStore]. It replaces a sign-in that exists, and then adds no row to the audit
// trail.
func (l *logins) CreateSignIn(ctx context.Context, s account.SignIn) error {
	if err := s.User.Check(); err != nil {
		return err
	}
	return l.act(ctx, account.ActSignIn, func() (trail.Change, error) {
		_, known := l.signIns[s.Hash]
		if l.signIns[s.Hash] = s; known {
			return trail.Change{}, nil
		}
		return trail.SignedIn(s), nil
	})
}

// SignIn implements [account.LoginStore].
func (l *logins) SignIn(ctx context.Context, hash [32]byte) (s account.SignIn, err error) {
	err = l.view(ctx, func() (err error) { s, err = found(l.signIns, hash); return err })
	return s, err
}

// signInsOf lists the user's sign-ins, oldest first.
func (l *logins) signInsOf(u imagegen.UserID) []account.SignIn {
	return matching(l.signIns, func(s account.SignIn) bool { return s.User == u },
		func(a, b account.SignIn) int { return a.CreatedAt.Compare(b.CreatedAt) })
}

// removeSignIns removes sign-ins.
func (l *logins) removeSignIns(all []account.SignIn) {
	for _, s := range all {
		delete(l.signIns, s.Hash)
	}
}

// SignIns implements [account.LoginStore].
func (l *logins) SignIns(ctx context.Context, u imagegen.UserID) (all []account.SignIn, err error) {
	err = l.view(ctx, func() error { all = l.signInsOf(u); return nil })
	return all, err
}

// TouchSignIn implements [account.LoginStore]. It sets an earlier time only in the place of one that nothing can have
// now.
func (l *logins) TouchSignIn(ctx context.Context, hash [32]byte, at time.Time) error {
	latest := l.books.Read().Latest()
	return l.rows.Update(ctx, func(ledger.Tx) error {
		if s, there := l.signIns[hash]; there && (at.After(s.SeenAt) || s.SeenAt.After(latest)) {
			s.SeenAt = at
			l.signIns[hash] = s
		}
		return nil
	})
}

// ConfirmSignIn implements [account.LoginStore].
func (l *logins) ConfirmSignIn(ctx context.Context, hash [32]byte, at time.Time) error {
	return l.rows.Update(ctx, func(ledger.Tx) error {
		s, err := found(l.signIns, hash)
		if err != nil {
			return err
		}
		s.ConfirmedAt = at
		l.signIns[hash] = s
		return nil
	})
}

// EndSignIns implements [account.LoginStore]. It ignores hashes of another user's sign-ins.
func (l *logins) EndSignIns(ctx context.Context, u imagegen.UserID, hashes ...[32]byte) error {
	return l.act(ctx, account.ActSignOut, func() (trail.Change, error) {
		end := slices.DeleteFunc(l.signInsOf(u), func(s account.SignIn) bool {
			return len(hashes) > 0 && !slices.Contains(hashes, s.Hash)
		})
		l.removeSignIns(end)
		return trail.SignedOut(u, len(end)), nil
	})
}

// EndSignInsAged implements [account.LoginStore].
func (l *logins) EndSignInsAged(ctx context.Context, idle, whole time.Duration) error {
	at := l.books.Read()
	return l.rows.Update(ctx, func(ledger.Tx) error {
		for hash, s := range l.signIns {
			if at.Age(s.SeenAt) >= idle || at.Age(s.CreatedAt) >= whole {
				delete(l.signIns, hash)
			}
		}
		return nil
	})
}

// CreateInvitation implements [account.LoginStore].
func (l *logins) CreateInvitation(ctx context.Context, i account.Invitation) error {
	return l.act(ctx, account.ActUserInvite, func() (trail.Change, error) {
		if _, known := l.invitations[i.Hash]; known {
			return trail.Change{}, nil
		}
		for hash, former := range l.invitations {
			if former.User == i.User {
				delete(l.invitations, hash)
			}
		}
		l.invitations[i.Hash] = i
		return trail.Invited(i), nil
	})
}

// live finds an invitation that has not expired at now. imagegen.ErrNotFound.
func (l *logins) live(hash [32]byte, now time.Time) (account.Invitation, error) {
	i, err := found(l.invitations, hash)
	if err == nil && !now.Before(i.ExpiresAt) {
		return account.Invitation{}, imagegen.ErrNotFound
	}
	return i, err
}

// Invitation implements [account.LoginStore].
func (l *logins) Invitation(ctx context.Context, hash [32]byte, now time.Time) (i account.Invitation, err error) {
	err = l.view(ctx, func() (err error) { i, err = l.live(hash, now); return err })
	return i, err
}

// TakeInvitation implements [account.LoginStore]. It is one transaction, so only one caller gets the invitation.
func (l *logins) TakeInvitation(ctx context.Context, hash [32]byte, now time.Time) (i account.Invitation, err error) {
	err = l.act(ctx, account.ActUserAccept, func() (trail.Change, error) {
		if i, err = l.live(hash, now); err != nil {
			return trail.Change{}, err
		}
		delete(l.invitations, hash)
		return trail.Accepted(i), nil
	})
	return i, err
}
