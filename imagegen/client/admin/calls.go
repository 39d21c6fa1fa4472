package admin

import (
	"context"
	"fmt"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/internal/wire"
)

// User is a user with its balance.
type User struct {
	ID          imagegen.UserID  `json:"id"`
	Name        string           `json:"name"`
	AccountType string           `json:"account_type"`
	Role        account.Role     `json:"role"`
	Credits     imagegen.Credits `json:"credits"`
	CreatedAt   time.Time        `json:"created_at"`
	DisabledAt  *time.Time       `json:"disabled_at"`  // nil: it is not
	SuspendedAt *time.Time       `json:"suspended_at"` // nil: it is not
}

// Key is an API key without its secret.
type Key struct {
	ID         imagegen.KeyID `json:"id"`
	Name       string         `json:"name"`
	Prefix     string         `json:"prefix"`
	CreatedAt  time.Time      `json:"created_at"`
	ExpiresAt  *time.Time     `json:"expires_at"` // nil: never
	RevokedAt  *time.Time     `json:"revoked_at"`
	LastUsedAt *time.Time     `json:"last_used_at"`
	Limits     KeyLimits      `json:"limits"`
}

// KeyLimits bound what an API key can be used for; 0 is no limit.
type KeyLimits struct {
	Credits imagegen.Credits `json:"credits"`         // in all
	Daily   imagegen.Credits `json:"daily_credits"`   // on a day, in UTC
	Monthly imagegen.Credits `json:"monthly_credits"` // in a month, in UTC
	AtOnce  int              `json:"at_once"`         // generations that have not ended
}

// NewKey is an API key that was just made, with its secret, which is not stored anywhere.
type NewKey struct {
	Key
	Raw string `json:"key"`
}

// Grant is credits for a user, identified by name.
type Grant struct {
	User     string           `json:"user"`
	Credits  imagegen.Credits `json:"credits"` // 1 to imagegen.MaxCredits
	Promo    bool             `json:"promo"`
	Priority int              `json:"priority,omitempty"`   // 1 to 100, lower is consumed first; 0: the default
	Expires  *time.Time       `json:"expires_at,omitempty"` // nil: never
}

// Lot is credits that were granted together.
type Lot struct {
	ID        string           `json:"id"`
	Granted   imagegen.Credits `json:"granted"`
	Remaining imagegen.Credits `json:"remaining"`
	Held      imagegen.Credits `json:"held"`
	Promo     bool             `json:"promo"`
	Priority  int              `json:"priority"`
	CreatedAt time.Time        `json:"created_at"`
	ExpiresAt *time.Time       `json:"expires_at"`
	Ref       string           `json:"ref"`
}

// Granted is the lot that a grant made, or that exists under its key already, with the
// current balance.
type Granted struct {
	Lot      Lot              `json:"lot"`
	Balance  imagegen.Credits `json:"balance"`
	Repeated bool             `json:"repeated"` // the key was used before: nothing was changed
}

// Revocation takes unspent credits back, all of them or none.
type Revocation struct {
	User    string           `json:"user"`
	Credits imagegen.Credits `json:"credits"`
	Lot     string           `json:"lot,omitempty"` // "": in the order in which they would be consumed
}

// Revoked is what a revocation changed.
type Revoked struct {
	Credits  imagegen.Credits `json:"credits"` // below 0
	Balance  imagegen.Credits `json:"balance"` // at present
	Repeated bool             `json:"repeated"`
}

type none struct{}

// CreateUser adds a user without credits. A name that exists is refused. It needs the
// scope users.
func (c *Client) CreateUser(ctx context.Context, name, accountType string) (User, error) {
	return call[User](ctx, c, "create-user", "", map[string]string{"name": name, "account_type": accountType})
}

// Users lists all users by name. It needs the scope read.
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

// SuspendUser refuses new charges to a user until ResumeUser. Keys and sign-ins can still
// read. It needs the scope users.
func (c *Client) SuspendUser(ctx context.Context, user string) (User, error) {
	return call[User](ctx, c, "suspend-user", "", user)
}

// ResumeUser ends a suspension. It succeeds if there is none. It needs the scope users.
func (c *Client) ResumeUser(ctx context.Context, user string) (User, error) {
	return call[User](ctx, c, "resume-user", "", user)
}

// CreateKey makes an API key for a user; with a nil expires it never expires. It needs
// the scope users.
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

// RevokeKey makes an API key invalid at once. It needs the scope users.
func (c *Client) RevokeKey(ctx context.Context, id imagegen.KeyID) (Key, error) {
	return call[Key](ctx, c, "revoke-key", "", id)
}

// LimitKey replaces the limits of an API key. What it has used so far counts against
// them. It needs the scope users.
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

// Grant gives a user credits, once for each key, however often it is called. key names
// what the credits are for, such as the event of a payment. The same key for another user
// or amount, or on other terms, is an Error with status 409. It needs the scope credits.
func (c *Client) Grant(ctx context.Context, key string, g Grant) (Granted, error) {
	return call[Granted](ctx, c, "grant", key, g)
}

// Revoke takes credits back, once for each key. It needs the scope credits.
func (c *Client) Revoke(ctx context.Context, key string, r Revocation) (Revoked, error) {
	return call[Revoked](ctx, c, "revoke", key, r)
}

// Lots lists a user's lots that still have credits, in the order in which they are
// consumed. It needs the scope read.
func (c *Client) Lots(ctx context.Context, user string) ([]Lot, error) {
	return call[[]Lot](ctx, c, "lots", "", user)
}
