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

// Login implements [account.LoginStore].
func (s *store) Login(ctx context.Context, u imagegen.UserID) (account.Login, error) {
	return read(ctx, s, func() (account.Login, error) { return found(s.logins, u) })
}

// SetLogin implements [account.LoginStore]. The sign-ins that it ends have no rows of their own in the audit trail.
func (s *store) SetLogin(ctx context.Context, to account.Login) error {
	if err := to.User.Check(); err != nil {
		return err
	}
	return s.act(ctx, account.ActUserPassword, func() (trail.Change, error) {
		from, there := s.logins[to.User]
		if !there || from.Password != to.Password {
			s.removeSignIns(s.signInsOf(to.User))
		}
		s.logins[to.User] = to
		return trail.LoginSet(from, to), nil
	})
}

// Operators implements [account.LoginStore]. It counts users whom the store does not know, since an embedder may have
// users of its own.
func (s *store) Operators(ctx context.Context) (int, error) {
	return read(ctx, s, func() (n int, err error) {
		for u, login := range s.logins {
			if login.Role == account.RoleOperator && login.Password != "" && s.users[u].DisabledAt.IsZero() {
				n++
			}
		}
		return n, nil
	})
}

// CreateSignIn implements [account.LoginStore]. It replaces a sign-in that exists, and then adds no row to the audit
// trail.
func (s *store) CreateSignIn(ctx context.Context, in account.SignIn) error {
	if err := in.User.Check(); err != nil {
		return err
	}
	return s.act(ctx, account.ActSignIn, func() (trail.Change, error) {
		_, known := s.signIns[in.Hash]
		if s.signIns[in.Hash] = in; known {
			return trail.Change{}, nil
		}
		return trail.SignedIn(in), nil
	})
}

// SignIn implements [account.LoginStore].
func (s *store) SignIn(ctx context.Context, hash [32]byte) (account.SignIn, error) {
	return read(ctx, s, func() (account.SignIn, error) { return found(s.signIns, hash) })
}

// signInsOf lists the user's sign-ins, oldest first.
func (s *store) signInsOf(u imagegen.UserID) []account.SignIn {
	return matching(s.signIns, func(in account.SignIn) bool { return in.User == u },
		func(a, b account.SignIn) int { return a.CreatedAt.Compare(b.CreatedAt) })
}

// removeSignIns removes sign-ins.
func (s *store) removeSignIns(all []account.SignIn) {
	for _, in := range all {
		delete(s.signIns, in.Hash)
	}
}

// SignIns implements [account.LoginStore].
func (s *store) SignIns(ctx context.Context, u imagegen.UserID) ([]account.SignIn, error) {
	return read(ctx, s, func() ([]account.SignIn, error) { return s.signInsOf(u), nil })
}

// TouchSignIn implements [account.LoginStore]. It sets an earlier time only in the place of one that nothing can have
// now.
func (s *store) TouchSignIn(ctx context.Context, hash [32]byte, at time.Time) error {
	latest := s.books.Read().Latest()
	return s.rows.Update(ctx, func(ledger.Tx) error {
		if in, there := s.signIns[hash]; there && (at.After(in.SeenAt) || in.SeenAt.After(latest)) {
			in.SeenAt = at
			s.signIns[hash] = in
		}
		return nil
	})
}

// ConfirmSignIn implements [account.LoginStore].
func (s *store) ConfirmSignIn(ctx context.Context, hash [32]byte, at time.Time) error {
	return s.rows.Update(ctx, func(ledger.Tx) error {
		in, err := found(s.signIns, hash)
		if err != nil {
			return err
		}
		in.ConfirmedAt = at
		s.signIns[hash] = in
		return nil
	})
}

// EndSignIns implements [account.LoginStore]. It ignores hashes of another user's sign-ins.
func (s *store) EndSignIns(ctx context.Context, u imagegen.UserID, hashes ...[32]byte) error {
	return s.act(ctx, account.ActSignOut, func() (trail.Change, error) {
		end := slices.DeleteFunc(s.signInsOf(u), func(in account.SignIn) bool {
			return len(hashes) > 0 && !slices.Contains(hashes, in.Hash)
		})
		s.removeSignIns(end)
		return trail.SignedOut(u, len(end)), nil
	})
}

// EndSignInsAged implements [account.LoginStore].
func (s *store) EndSignInsAged(ctx context.Context, idle, whole time.Duration) error {
	at := s.books.Read()
	return s.rows.Update(ctx, func(ledger.Tx) error {
		for hash, in := range s.signIns {
			if at.Age(in.SeenAt) >= idle || at.Age(in.CreatedAt) >= whole {
				delete(s.signIns, hash)
			}
		}
		return nil
	})
}

// CreateInvitation implements [account.LoginStore].
func (s *store) CreateInvitation(ctx context.Context, i account.Invitation) error {
	return s.act(ctx, account.ActUserInvite, func() (trail.Change, error) {
		if _, known := s.invitations[i.Hash]; known {
			return trail.Change{}, nil
		}
		for hash, former := range s.invitations {
			if former.User == i.User {
				delete(s.invitations, hash)
			}
		}
		s.invitations[i.Hash] = i
		return trail.Invited(i), nil
	})
}

// liveInvitation finds an invitation that has not expired at now. imagegen.ErrNotFound.
func (s *store) liveInvitation(hash [32]byte, now time.Time) (account.Invitation, error) {
	i, err := found(s.invitations, hash)
	if err == nil && !now.Before(i.ExpiresAt) {
		return account.Invitation{}, imagegen.ErrNotFound
	}
	return i, err
}

// Invitation implements [account.LoginStore].
func (s *store) Invitation(ctx context.Context, hash [32]byte, now time.Time) (account.Invitation, error) {
	return read(ctx, s, func() (account.Invitation, error) { return s.liveInvitation(hash, now) })
}

// TakeInvitation implements [account.LoginStore]. It is one transaction, so only one caller gets the invitation.
func (s *store) TakeInvitation(ctx context.Context, hash [32]byte, now time.Time) (i account.Invitation, err error) {
	err = s.act(ctx, account.ActUserAccept, func() (trail.Change, error) {
		if i, err = s.liveInvitation(hash, now); err != nil {
			return trail.Change{}, err
		}
		delete(s.invitations, hash)
		return trail.Accepted(i), nil
	})
	return i, err
}
