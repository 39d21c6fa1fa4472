package memory

import (
	"context"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

type (
	// subject is whom an issuer calls by a name.
	subject struct{ issuer, subject string }
	// member is a user at an issuer, where they have one identity at most.
	member struct {
		user   imagegen.UserID
		issuer string
	}
)

// CreateIdentity implements [account.LoginStore].
func (s *store) CreateIdentity(ctx context.Context, i account.Identity) error {
	if err := i.User.Check(); err != nil {
		return err
	}
	who, whose := subject{i.Issuer, i.Subject}, member{i.User, i.Issuer}
	return s.act(ctx, account.ActIdentityCreate, func() (trail.Change, error) {
		former, there := s.identities[who]
		_, another := s.ofUsers[whose]
		switch {
		case there && former.User == i.User:
			return trail.Change{}, nil
		case there || another:
			return trail.IdentityCreated(i), imagegen.ErrExists
		}
		s.identities[who], s.ofUsers[whose] = i, who
		return trail.IdentityCreated(i), nil
	})
}

// Identity implements [account.LoginStore].
func (s *store) Identity(ctx context.Context, issuer, sub string) (account.Identity, error) {
	return read(ctx, s, func() (account.Identity, error) { return found(s.identities, subject{issuer, sub}) })
}

// UserIdentity implements [account.LoginStore].
func (s *store) UserIdentity(ctx context.Context, u imagegen.UserID,
	issuer string) (account.Identity, error) {
	return read(ctx, s, func() (account.Identity, error) {
		who, err := found(s.ofUsers, member{u, issuer})
		if err != nil {
			return account.Identity{}, err
		}
		return found(s.identities, who)
	})
}

// RemoveIdentity implements [account.LoginStore].
func (s *store) RemoveIdentity(ctx context.Context, u imagegen.UserID, issuer string) error {
	return s.act(ctx, account.ActIdentityRemove, func() (trail.Change, error) {
		who, there := s.ofUsers[member{u, issuer}]
		if !there {
			return trail.Change{}, nil
		}
		former := s.identities[who]
		delete(s.identities, who)
		delete(s.ofUsers, member{u, issuer})
		return trail.IdentityRemoved(former), nil
	})
}
