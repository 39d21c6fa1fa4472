package admin

import (
	"context"
	"fmt"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/internal/wire"
)

// User is a user with the current balance.
type User struct {
	ID          imagegen.UserID  `json:"id"`
	Name        string           `json:"name"`
	AccountType string           `json:"account_type"`
	Role        account.Role     `json:"role"`
	Credits     imagegen.Credits `json:"credits"`
	CreatedAt   time.Time        `json:"created_at"`
	DisabledAt  *time.Time       `json:"disabled_at"`  // nil: not disabled
	SuspendedAt *time.Time       `json:"suspended_at"` // nil: not suspended
}

// Key is an API key without its secret.
type Key struct {
	ID         imagegen.KeyID `json:"id"`
	Name       string         `json:"name"`
	Prefix     string         `json:"prefix"`
	CreatedAt  time.Time      `json:"created_at"`
	ExpiresAt  *time.Time     `json:"expires_at"`   // nil: never
	RevokedAt  *time.Time     `json:"revoked_at"`   // nil: not revoked
	LastUsedAt *time.Time     `json:"last_used_at"` // nil: never; may lag behind by a minute
	Limits     KeyLimits      `json:"limits"`
}

// KeyLimits bound what an API key can be used for, see [imagegen.KeyLimits]; 0 means no limit.
type KeyLimits struct {
	Credits imagegen.Credits `json:"credits"`         // in all
	Daily   imagegen.Credits `json:"daily_credits"`   // on one day, in UTC
	Monthly imagegen.Credits `json:"monthly_credits"` // in one calendar month, in UTC
	AtOnce  int              `json:"at_once"`         // generations that have not ended
}

// NewKey is an API key that was just made, with its secret, which is not stored anywhere.
type NewKey struct {
	Key
	Raw string `json:"key"` // the secret: what a client sends
}

// Grant adds credits to the account of a user.
type Grant struct {
	User     string           `json:"user"`    // the name
	Credits  imagegen.Credits `json:"credits"` // 1 to imagegen.MaxCredits
	Promo    bool             `json:"promo"`
	Priority int              `json:"priority,omitempty"`   // 1 to 100, lower is consumed first; 0: imagegen.DefaultPriority
	Expires  *time.Time       `json:"expires_at,omitempty"` // nil: never
}

// Lot is credits that were granted together.
type Lot struct {
	ID        string           `json:"id"`
	Granted   imagegen.Credits `json:"granted"`
	Remaining imagegen.Credits `json:"remaining"` // can be spent
	Held      imagegen.Credits `json:"held"`      // by open charges
	Promo     bool             `json:"promo"`
	Priority  int              `json:"priority"`
	CreatedAt time.Time        `json:"created_at"`
	ExpiresAt *time.Time       `json:"expires_at"` // nil: never
	Ref       string           `json:"ref"`        // the key of the grant
}

// Granted is the lot that a grant made, or the lot that exists under its key, with the current
// balance.
type Granted struct {
	Lot      Lot              `json:"lot"`
	Balance  imagegen.Credits `json:"balance"`
	Repeated bool             `json:"repeated"` // the key was used before: nothing was changed
}

// Revocation takes unspent credits back from a user: all of Credits, or none.
type Revocation struct {
	User    string           `json:"user"` // the name
	Credits imagegen.Credits `json:"credits"`
	Lot     string           `json:"lot,omitempty"` // only from the lot with this ID; "": in the order in which lots are consumed
}

// Revoked is what a revocation changed, with the current balance.
type Revoked struct {
	Credits  imagegen.Credits `json:"credits"` // the change of the balance: negative
	Balance  imagegen.Credits `json:"balance"`
	Repeated bool             `json:"repeated"` // the key was used before: nothing was changed
}

type none struct{}

// CreateUser adds a user without credits. accountType "" means imagegen.DefaultAccountType. It is an
// Error if the name is taken. It needs the scope users.
func (c *Client) CreateUser(ctx context.Context, name, accountType string) (User, error) {
	return call[User](ctx, c, "create-user", "", map[string]string{"name": name, "account_type": accountType})
}

// Users lists all users in the order of their names. It needs the scope read.
func (c *Client) Users(ctx context.Context) ([]User, error) {
	return call[[]User](ctx, c, "users", "", none{})
}

// SetAccountType changes a user's account type. It needs the scope users.
func (c *Client) SetAccountType(ctx context.Context, user, accountType string) (User, error) {
	return call[User](ctx, c, "set-account-type", "", map[string]string{"user": user, "account_type": accountType})
}

// DisableUser makes all keys and sign-ins of a user invalid, for good. It needs the scope users.
func (c *Client) DisableUser(ctx context.Context, user string) (User, error) {
	return call[User](ctx, c, "disable-user", "", user)
}

// SuspendUser suspends a user until ResumeUser: new charges are refused, but everything can still be
// read with the user's keys and sign-ins. It needs the scope users.
func (c *Client) SuspendUser(ctx context.Context, user string) (User, error) {
	return call[User](ctx, c, "suspend-user", "", user)
}

// ResumeUser ends a suspension. It succeeds if there is none. It needs the scope users.
func (c *Client) ResumeUser(ctx context.Context, user string) (User, error) {
	return call[User](ctx, c, "resume-user", "", user)
}

// CreateKey makes an API key for a user. expires nil means never. It needs the scope users.
func (c *Client) CreateKey(ctx context.Context, user, name string, expires *time.Time) (NewKey, error) {
	return call[NewKey](ctx, c, "create-key", "", struct {
		User    string     `json:"user"`
		Name    string     `json:"name"`
		Expires *time.Time `json:"expires_at"`
	}{user, name, expires})
}

// Keys lists a user's API keys, oldest first. It needs the scope read.
func (c *Client) Keys(ctx context.Context, user string) ([]Key, error) {
	return call[[]Key](ctx, c, "keys", "", user)
}

// RevokeKey makes an API key invalid at once and for good. It needs the scope users.
func (c *Client) RevokeKey(ctx context.Context, id imagegen.KeyID) (Key, error) {
	return call[Key](ctx, c, "revoke-key", "", id)
}

// LimitKey replaces the limits of an API key. What the key has used so far counts against the new
// limits. It needs the scope users.
func (c *Client) LimitKey(ctx context.Context, id imagegen.KeyID, l KeyLimits) (Key, error) {
	return call[Key](ctx, c, "limit-key", "", struct {
		ID     imagegen.KeyID `json:"id"`
		Limits KeyLimits      `json:"limits"`
	}{id, l})
}

// Usage sums up what a user was charged, as [imagegen.UsageQuery] says. It needs the scope read.
func (c *Client) Usage(ctx context.Context, user string, q imagegen.UsageQuery) (imagegen.UsageReport, error) {
	report, err := call[wire.UsageReport](ctx, c, "usage", "", struct {
		User string                `json:"user"`
		From *string               `json:"from"`
		To   *string               `json:"to"`
		By   []imagegen.UsageGroup `json:"group_by"`
	}{user, day(q.From), day(q.To), q.By})
	if err != nil {
		return imagegen.UsageReport{}, err
	}
	r, err := report.Value()
	if err != nil {
		return r, fmt.Errorf("admin: the answer cannot be read: %w", err)
	}
	return r, nil
}

// day is a day as it is sent; nil: the service chooses.
func day(at time.Time) *string {
	if at.IsZero() {
		return nil
	}
	s := at.UTC().Format(time.DateOnly)
	return &s
}

// Grant gives a user credits, only once for each key, however often it is called. key is required and
// identifies the reason, such as the event of a payment. A key that was used for another user,
// amount or other terms is an Error with status 409. It needs the scope credits.
func (c *Client) Grant(ctx context.Context, key string, g Grant) (Granted, error) {
	return call[Granted](ctx, c, "grant", key, g)
}

// Revoke takes credits back, only once for each key, which is required. A key that was used for
// another user, amount or lot is an Error with status 409. It needs the scope credits.
func (c *Client) Revoke(ctx context.Context, key string, r Revocation) (Revoked, error) {
	return call[Revoked](ctx, c, "revoke", key, r)
}

// Lots lists a user's lots that have credits, or hold some for open charges, in the order in which
// they are consumed. It needs the scope read.
func (c *Client) Lots(ctx context.Context, user string) ([]Lot, error) {
	return call[[]Lot](ctx, c, "lots", "", user)
}
