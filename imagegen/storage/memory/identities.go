package memory

import (
	"context"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

// identities implements imagegen.IdentityStore, in the transactions of a store.
type identities struct {
	*store
	identities map[subject]imagegen.Identity
	ofUsers    map[member]subject
}

type (
	subject struct{ issuer, subject string }
	member  struct {
		user   imagegen.UserID
		issuer string
	}
)

func newIdentities(s *store) *identities {
	return &identities{s, make(map[subject]imagegen.Identity), make(map[member]subject)}
}

// CreateIdentity implements [imagegen.IdentityStore].
func (s *identities) CreateIdentity(ctx context.Context, i imagegen.Identity) error {
	if err := i.User.Check(); err != nil {
		return err
	}
	who, whose := subject{i.Issuer, i.Subject}, member{i.User, i.Issuer}
	return s.act(ctx, imagegen.ActIdentityCreate, func() (trail.Change, error) {
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

// Identity implements [imagegen.IdentityStore].
func (s *identities) Identity(ctx context.Context, issuer, sub string) (i imagegen.Identity, err error) {
	err = s.read(ctx, func() (err error) { i, err = found(s.identities, subject{issuer, sub}); return err })
	return i, err
}

// UserIdentity implements [imagegen.IdentityStore].
func (s *identities) UserIdentity(ctx context.Context, u imagegen.UserID, issuer string) (i imagegen.Identity, err error) {
	err = s.read(ctx, func() error {
		who, err := found(s.ofUsers, member{u, issuer})
		if err == nil {
			i, err = found(s.identities, who)
		}
		return err
	})
	return i, err
}

// RemoveIdentity implements [imagegen.IdentityStore].
func (s *identities) RemoveIdentity(ctx context.Context, u imagegen.UserID, issuer string) error {
	return s.act(ctx, imagegen.ActIdentityRemove, func() (trail.Change, error) {
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
