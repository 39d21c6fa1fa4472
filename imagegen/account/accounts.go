package account

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/imagegend/imagegend/imagegen"
)

// Accounts manages users and their keys. It is safe for concurrent use. As for an
// [imagegen.Service], every error is an *imagegen.Error or that of a context.
type Accounts struct {
	store imagegen.Store
	now   func() time.Time
	ids   *imagegen.IDs

	mu   sync.Mutex                   // guards used
	used map[imagegen.KeyID]time.Time // when keys were last used, so that no request pays for writing it; may be nil
}

// New returns the accounts of a store. ids makes the identifiers of new users and keys; now
// returns the current time. A program with an engine uses engine.Engine.Accounts instead.
func New(store imagegen.Store, ids *imagegen.IDs, now func() time.Time) *Accounts {
	return &Accounts{store: store, now: now, ids: ids}
}

// CreateUser adds a user. name is unique, and 1 to 255 bytes of printable text without space around it, has no slash,
// which is reserved for members (see CreateMember), and does not have the form of an identifier
// ([imagegen.IsIdentifier]). accountType is 1 to 64 letters A-Z, digits and underscores; lower-case letters become
// upper-case; "" means DefaultAccountType. ErrInvalidRequest: one of the two is not valid, or the name is taken; the
// error is then also an ErrExists.
func (a *Accounts) CreateUser(ctx context.Context, name, accountType string) (imagegen.User, error) {
	accountType, err := imagegen.ParseAccountType(cmp.Or(accountType, imagegen.DefaultAccountType))
	if err := errors.Join(checkName("user", name), err); err != nil {
		return imagegen.User{}, err
	}
	switch {
	case imagegen.IsIdentifier(name):
		err = imagegen.Invalid("%q has the form of an identifier, and a name may not; choose another name", name)
	case strings.Contains(name, memberSlash):
		err = imagegen.Invalid("a name with %q is that of a sponsor's member, and %.40q is none; choose another name",
			memberSlash, name)
	}
	if err != nil {
		return imagegen.User{}, err
	}
	now := a.now()
	u := imagegen.User{ID: a.ids.User(now), Name: name, AccountType: accountType, CreatedAt: now}
	if err := a.store.CreateUser(ctx, u); err != nil {
		return imagegen.User{}, imagegen.ToUserError(err)
	}
	return u, nil
}

// memberSlash stands between the name of a sponsor and that of its member, and in no other name.
const memberSlash = "/"

// MemberName is the name of a sponsor's member.
func MemberName(sponsor imagegen.User, name string) string { return sponsor.Name + memberSlash + name }

// CreateMember adds the user, named SPONSOR/NAME, who is a person of that name for a sponsor, see [Person.Member]: the
// sponsor pays within limits. ErrNotFound: there is no such sponsor. ErrInvalidRequest: the name cannot be one, or is
// taken; the error is then also an ErrExists; or SetSponsor would refuse.
func (a *Accounts) CreateMember(ctx context.Context, sponsor imagegen.UserID, name string,
	l imagegen.KeyLimits) (imagegen.User, error) {
	s, err := a.User(ctx, sponsor)
	if err != nil {
		return imagegen.User{}, err
	}
	u, err := Person{ID: name}.Member(s)
	if err == nil && strings.Contains(name, memberSlash) {
		err = imagegen.Invalid("the name of a member has no %q; got %.40q", memberSlash, name)
	}
	if err != nil {
		return imagegen.User{}, err
	}
	if _, err := a.store.User(ctx, u.ID); err == nil {
		return imagegen.User{}, imagegen.ToUserError(imagegen.ErrExists)
	}
	u.CreatedAt, u.Limits = a.now(), l
	return u, imagegen.ToUserError(a.store.CreateMember(ctx, u, imagegen.MaxMembers))
}

// User returns a user by its identifier. ErrNotFound.
func (a *Accounts) User(ctx context.Context, id imagegen.UserID) (imagegen.User, error) {
	u, err := a.store.User(ctx, id)
	return u, imagegen.ToUserError(err)
}

// Account returns a user as it is charged and priced. One that the store does not know is an embedder's own, with the
// DefaultAccountType. A member for whom none was set has that of its sponsor.
func (a *Accounts) Account(ctx context.Context, id imagegen.UserID) (imagegen.User, error) {
	u, err := a.store.User(ctx, id)
	if errors.Is(err, imagegen.ErrNotFound) {
		return imagegen.User{ID: id, AccountType: imagegen.DefaultAccountType}, nil
	}
	if err == nil && u.Sponsor != "" && u.AccountType == "" {
		var sponsor imagegen.User
		sponsor, err = a.store.User(ctx, u.Sponsor)
		u.AccountType = sponsor.AccountType
	}
	u.AccountType = cmp.Or(u.AccountType, imagegen.DefaultAccountType)
	return u, imagegen.ToUserError(err)
}

// Names returns a function for one answer, which finds the names of its users and looks for each once. "" has none, and
// a user whom the store does not know has its identifier.
func (a *Accounts) Names(ctx context.Context) func(imagegen.UserID) (string, error) {
	found := map[imagegen.UserID]string{"": ""}
	return func(id imagegen.UserID) (string, error) {
		if name, known := found[id]; known {
			return name, nil
		}
		u, err := a.User(ctx, id)
		if err != nil && !errors.Is(err, imagegen.ErrNotFound) {
			return "", err
		}
		found[id] = cmp.Or(u.Name, string(id))
		return found[id], nil
	}
}

// UserByName returns a user by its name. ErrNotFound.
func (a *Accounts) UserByName(ctx context.Context, name string) (imagegen.User, error) {
	u, err := a.store.UserByName(ctx, name)
	return u, imagegen.ToUserError(err)
}

// TrailTargets returns what s stands for where the audit trail is filtered by target: itself and, if it is the name of
// a user, also the identifier of that user, since a webhook can have the same name. An identifier stands for itself
// alone, even if a user has it as a name. "" stands for everything: nil.
func (a *Accounts) TrailTargets(ctx context.Context, s string) []string {
	if s == "" {
		return nil
	}
	if _, err := a.store.User(ctx, imagegen.UserID(s)); err == nil || imagegen.IsIdentifier(s) {
		return []string{s}
	}
	if u, err := a.store.UserByName(ctx, s); err == nil {
		return []string{s, string(u.ID)}
	}
	return []string{s}
}

// Users lists all users in the order of their names.
func (a *Accounts) Users(ctx context.Context) ([]imagegen.User, error) {
	us, err := a.store.Users(ctx)
	return us, imagegen.ToUserError(err)
}

// UserPage returns one page of users. If few of very many users match, it can have fewer than
// q.Limit users, or none, although others follow: look at Next. ErrInvalidRequest: q.Limit is out
// of range.
func (a *Accounts) UserPage(ctx context.Context, q imagegen.UserQuery) (imagegen.UserPage, error) {
	q.Limit = cmp.Or(q.Limit, imagegen.DefaultPageSize)
	if q.Limit < 1 || q.Limit > imagegen.MaxPageSize {
		return imagegen.UserPage{}, imagegen.Invalid("limit must be from 1 to %d; got %d", imagegen.MaxPageSize,
			q.Limit)
	}
	if i, ok := a.store.(imagegen.Inspector); ok {
		p, err := i.UserPage(ctx, q)
		return p, imagegen.ToUserError(err)
	}
	all, err := a.store.Users(ctx)
	return pageOf(all, q), imagegen.ToUserError(err)
}

// pageOf is a page of all users, by name.
func pageOf(all []imagegen.User, q imagegen.UserQuery) (p imagegen.UserPage) {
	for _, u := range all {
		switch {
		case u.Name <= q.After || !q.Selects(u):
		case len(p.Users) == q.Limit:
			p.Next = p.Users[q.Limit-1].Name
			return p
		default:
			p.Users = append(p.Users, u)
		}
	}
	return p
}

// SetAccountType changes a user's account type; "" gives a member that of its sponsor. Lower-case letters in it become
// upper-case. ErrInvalidRequest: the type is not valid, see CreateUser. ErrNotFound.
func (a *Accounts) SetAccountType(ctx context.Context, id imagegen.UserID, accountType string) error {
	if u, _ := a.User(ctx, id); accountType != "" || u.Sponsor == "" {
		var err error
		if accountType, err = imagegen.ParseAccountType(accountType); err != nil {
			return err
		}
	}
	return imagegen.ToUserError(a.store.SetAccountType(ctx, id, accountType))
}

// DisableUser disables a user for good: all keys become invalid, and every new Generate fails, also
// in process. Credits and generations of the user stay. ErrNotFound.
func (a *Accounts) DisableUser(ctx context.Context, id imagegen.UserID) error {
	return imagegen.ToUserError(a.store.DisableUser(ctx, id, a.now()))
}

// SuspendUser suspends a user until ResumeUser: every new Generate fails with ErrChargeRefused, also
// in process. Everything can still be read with the user's keys and sign-ins, and running work ends
// as usual. ErrNotFound.
func (a *Accounts) SuspendUser(ctx context.Context, id imagegen.UserID) error {
	return imagegen.ToUserError(a.store.SuspendUser(ctx, id, a.now()))
}

// ResumeUser ends a suspension. It succeeds if there is none. ErrNotFound.
func (a *Accounts) ResumeUser(ctx context.Context, id imagegen.UserID) error {
	return imagegen.ToUserError(a.store.ResumeUser(ctx, id))
}

// SetSponsor has a sponsor pay, within limits, for everything that a user asks for from now on: the user is its member.
// With sponsor "" the user pays again. What is under way stays as it is. Generations, images and keys stay the user's.
// ErrNotFound: one of the two does not exist. ErrInvalidRequest: a limit is out of range, the two are the same, the
// sponsor has a sponsor, or the user has members. A user with credits of its own cannot get a sponsor: see
// engine.Engine.SetSponsor, which looks at them.
func (a *Accounts) SetSponsor(ctx context.Context, id, sponsor imagegen.UserID, l imagegen.KeyLimits) error {
	return imagegen.ToUserError(a.store.SetSponsor(ctx, id, sponsor, l))
}

// AddMember adds the user who a person is for a sponsor, see [Person.Member], with the limits of the key that asks: it
// succeeds if there is that user. ErrChargeRefused: the sponsor has k.Members members already.
func (a *Accounts) AddMember(ctx context.Context, u imagegen.User, k imagegen.Key) error {
	u.CreatedAt, u.Limits = a.now(), k.Limits
	return imagegen.ToUserError(a.store.CreateMember(ctx, u, k.Members))
}

func checkName(what, name string) error {
	if name == "" || len(name) > 255 || !utf8.ValidString(name) || strings.TrimSpace(name) != name ||
		strings.ContainsFunc(name, unprintable) {
		return imagegen.Invalid("the name of a %s is 1 to 255 bytes of printable text without space around it; got %.40q", what, name)
	}
	return nil
}
