package engine

import (
	"context"
	"errors"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// onBehalfOf returns the session of a person for a key on behalf of people. It writes nothing: who asks for the first
// time becomes a user when there is something to charge, see Session.join.
func (s *Session) onBehalfOf(ctx context.Context, p account.Person) (*Session, error) {
	u, err := p.Member(s.owner)
	if err != nil {
		return nil, err
	}
	of := *s
	of.user, of.member, of.found = u.ID, u, imagegen.User{}
	stored, err := s.engine.accounts.User(ctx, u.ID)
	if errors.Is(err, imagegen.ErrNotFound) {
		return &of, nil
	}
	if err == nil {
		err = s.admits(stored)
	}
	if err != nil {
		return nil, err
	}
	of.member, of.joined = stored, true
	return &of, nil
}

// admits returns why a user cannot be the person behind the session's key; nil if it can.
func (s *Session) admits(u imagegen.User) error {
	name := strings.TrimPrefix(u.Name, account.MemberName(s.owner, ""))
	switch {
	case u.Sponsor != s.owner.ID:
		return imagegen.ChargeRefused("%q is not a member of this account any more; its owner can say why", name)
	case !u.DisabledAt.IsZero():
		return imagegen.ChargeRefused("%q is disabled in this account; its owner can say why", name)
	}
	return nil
}

// forPerson returns the session of the person whom a request names, where the key is on behalf of people and the
// context has named nobody; else the session itself. ErrInvalidRequest: there is none, or the two differ.
func (s *Session) forPerson(ctx context.Context, endUser string) (*Session, error) {
	switch {
	case s.behalf.Members == 0:
		return s, nil
	case s.member.ID == "":
		return s.onBehalfOf(ctx, account.Person{ID: endUser})
	case endUser == "":
		return s, nil
	}
	named, err := account.Person{ID: endUser}.Member(s.owner)
	if err == nil && named.ID != s.user {
		err = imagegen.InvalidField("user", "the field user names another person than the header does; send one of the two")
	}
	return s, err
}

// named returns an ErrInvalidRequest if the key is on behalf of people and the request named nobody.
func (s *Session) named() error {
	if s.behalf.Members == 0 || s.member.ID != "" {
		return nil
	}
	_, err := account.Person{}.Member(s.owner)
	return err
}

// join makes the person who asks for the first time a member. It comes last before the charge, and looks at what that
// would refuse: a request that is refused writes nothing. ErrInsufficientCredits: the owner of the key has too few for
// the cost, or the limits of a new member are below it. ErrChargeRefused: the owner is suspended, or there are as many
// members as there may be.
func (s *Session) join(ctx context.Context, cost imagegen.Credits) error {
	if s.behalf.Members == 0 || s.joined {
		return nil
	}
	owner, err := s.engine.accounts.User(ctx, s.owner.ID)
	if err == nil {
		err = s.member.CheckPays(owner)
	}
	if err == nil {
		each := imagegen.User{Limits: s.behalf.Limits}
		err = each.CheckLimits(imagegen.KeyUse{}, cost)
	}
	if err != nil {
		return err
	}
	if s.engine.hasLess(ctx, s.owner.ID, cost) {
		return imagegen.ErrInsufficientCredits
	}
	return s.engine.accounts.AddMember(ctx, s.member, s.behalf)
}

// lookedUp returns the user that was found with the API key, else account.
func (s *Session) lookedUp(ctx context.Context) (imagegen.User, error) {
	if s.found.ID != "" {
		return s.found, nil
	}
	return s.account(ctx)
}

// account returns the user of the session as it is charged and priced: by the account type that the host names, if it
// does. A person who has asked for nothing yet has the
// limits that the key gives to new members.
func (s *Session) account(ctx context.Context) (imagegen.User, error) {
	if s.behalf.Members == 0 || s.member.ID == "" || s.joined {
		u, err := s.engine.accounts.Account(ctx, s.user)
		if s.host != nil && s.host.AccountType != "" {
			u.AccountType = s.host.AccountType
		}
		return u, err
	}
	u := s.member
	u.AccountType, u.Limits = s.owner.AccountType, s.behalf.Limits
	return u, nil
}

// Payer returns whose share of memory, of the space for uploads and of waits the session takes: people behind one key
// have that of its owner.
func (s *Session) Payer() imagegen.UserID {
	if s.behalf.Members > 0 {
		return s.owner.ID
	}
	return s.user
}
