package imagegen

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// AccountStore keeps users and their API keys: only the hash of a key, never the key
// itself. An embedder with users of its own need not create any here: a user that the
// store does not know has DefaultAccountType and is not disabled. The contract of [Store]
// on concurrency, durability and contexts holds here too.
type AccountStore interface {
	// CreateUser adds a user. ErrExists: another user has the ID or the name.
	// ErrInvalidRequest: the ID is not Valid.
	CreateUser(ctx context.Context, u User) error
	// User returns a user; UserByName finds it by name. ErrNotFound.
	User(ctx context.Context, id UserID) (User, error)
	UserByName(ctx context.Context, name string) (User, error)
	// Users lists all users in the order of their names.
	Users(ctx context.Context) ([]User, error)
	// SetAccountType changes the account type; of a member, "" is that of its sponsor. ErrNotFound.
	SetAccountType(ctx context.Context, id UserID, accountType string) error
	// DisableUser makes all keys of the user count as revoked, and makes Create refuse
	// every new record of the user, for good. A repeated call does not change the time.
	// ErrNotFound.
	DisableUser(ctx context.Context, id UserID, at time.Time) error
	// SuspendUser refuses new charges to the user until ResumeUser: Create fails with the
	// error of [User.CheckNotSuspended]. Everything else goes on, and a repeated request still
	// gets the answer under its idempotency key. A repeated call does not change the time.
	// ErrNotFound.
	SuspendUser(ctx context.Context, id UserID, at time.Time) error
	// ResumeUser ends a suspension. It succeeds if there is none. ErrNotFound.
	ResumeUser(ctx context.Context, id UserID) error
	// SetSponsor has a sponsor pay, within limits, for everything that is created for the user from now on; with
	// sponsor "" the user pays again. An account type that is DefaultAccountType when a sponsorship begins becomes "",
	// and one that is "" when it ends DefaultAccountType. ErrNotFound: one of the two does not exist.
	// ErrInvalidRequest: the limits do not pass Check, or are given without a sponsor; or the two are the same, the
	// sponsor has a sponsor, the user has members or, if the ledger takes part in the store's commits, credits.
	SetSponsor(ctx context.Context, id, sponsor UserID, limits KeyLimits) error
	// CreateMember adds a user with a sponsor. It succeeds, and changes nothing, if there is a user with that
	// identifier. ErrChargeRefused: the sponsor has most members already, which leaves no row in an audit trail, since
	// callers ask for it. ErrNotFound: there is no such sponsor. ErrExists: another user has the name.
	CreateMember(ctx context.Context, u User, most int) error

	// CreateKey adds a key. ErrExists: another key has its identifier or its hash.
	// ErrInvalidRequest: the user is not Valid, or the limits do not pass Check.
	CreateKey(ctx context.Context, k Key) error
	// KeyByHash finds a key by the SHA-256 of the raw key, even if it is revoked or has
	// expired. ErrNotFound.
	KeyByHash(ctx context.Context, hash [32]byte) (Key, error)
	// Keys lists the user's keys, oldest first.
	Keys(ctx context.Context, u UserID) ([]Key, error)
	// RevokeKey revokes a key for good and returns it. A repeated call does not change the
	// time. ErrNotFound.
	RevokeKey(ctx context.Context, id KeyID, at time.Time) (Key, error)
	// SetKeyLimits replaces the limits of a key and returns it. What the key has used so
	// far counts against the new limits. ErrNotFound. ErrInvalidRequest: the limits do not
	// pass Check.
	SetKeyLimits(ctx context.Context, id KeyID, l KeyLimits) (Key, error)
	// TouchKeys records when keys were last used, and ignores unknown keys. A crash may
	// lose the latest times.
	TouchKeys(ctx context.Context, used map[KeyID]time.Time) error
}

// DefaultAccountType is the account type of a user for whom none was set.
const DefaultAccountType = "FREE"

var accountTypeForm = regexp.MustCompile(`^[A-Za-z0-9_]{1,64}$`)

// ParseAccountType returns the account type that a text means, in capitals. ErrInvalidRequest: it is not 1 to 64 of the
// letters A to Z in either case, digits and underscores.
func ParseAccountType(s string) (string, error) {
	if !accountTypeForm.MatchString(s) {
		return "", Invalid("an account type is 1 to 64 of A-Z, 0-9 and _, such as PRO; got %.40q", s)
	}
	return strings.ToUpper(s), nil
}

// User owns keys, credits and generations.
type User struct {
	ID          UserID
	Name        string // unique
	AccountType string // as ParseAccountType returns it; "" for a member: that of its sponsor
	CreatedAt   time.Time
	DisabledAt  time.Time // zero: not disabled
	SuspendedAt time.Time // zero: not suspended

	// Sponsor pays for everything that the user, who is its member then, asks for; "": the user pays. A sponsor has no
	// sponsor, and a member has no credits.
	Sponsor UserID
	Limits  KeyLimits // of a member; of what a sponsor paid
	Display string    // how a member is called, for display; "": as Name says

	// NotifyBelow has the feed of events tell when the balance falls below it, see [FeedKeeper]. 0: it does not.
	NotifyBelow Credits
}

// Payer returns who pays for the user's generations: its sponsor, or itself.
func (u User) Payer() UserID { return cmp.Or(u.Sponsor, u.ID) }

// CheckNotSuspended returns ErrChargeRefused if the user is suspended, so that nothing new
// can be charged; else nil.
func (u User) CheckNotSuspended() error {
	switch {
	case u.SuspendedAt.IsZero():
		return nil
	case u.Sponsor != "": // one of many behind a key, maybe: the message says who
		return ChargeRefused("%q is suspended, and nothing was charged; the owner of the account can say why", u.Name)
	}
	return ChargeRefused("this account is suspended, and nothing was charged; ask the operator of this service")
}

// CheckPays returns ErrChargeRefused unless sponsor can pay for its member u now.
func (u User) CheckPays(sponsor User) error {
	switch {
	case !sponsor.DisabledAt.IsZero() || !sponsor.SuspendedAt.IsZero():
		return ChargeRefused("the account that pays for this one is suspended, and nothing was charged; ask its owner")
	case sponsor.Sponsor != "":
		return ChargeRefused("the account that pays for this one has a sponsor itself, and nothing was charged; ask its owner")
	}
	return nil
}

// CheckGranted returns why u, a member of sponsor, is granted no credits: ErrInvalidRequest.
func (u User) CheckGranted(sponsor User) error {
	return Invalid("user %q is a member of %q, who pays for it; grant credits to %[2]q", u.Name, sponsor.Name)
}

// CheckLimits is that of a [Key], for a member. used counts against its limits already.
func (u User) CheckLimits(used KeyUse, cost Credits) error {
	return u.Limits.check("your account", "", used, cost)
}

// Left returns what a member can spend of the balance of its sponsor, if used counts against its limits already. It
// does not say what expires next: that is the sponsor's.
func (u User) Left(of Balance, used KeyUse) Balance {
	b := Balance{Credits: of.Credits, AccountType: of.AccountType}
	for _, c := range u.Limits.credits(used) {
		if c.limit > 0 {
			b.Credits = min(b.Credits, max(0, c.limit-c.used))
		}
	}
	return b
}

// UserQuery selects users in the order of their names. The zero value selects the first
// DefaultPageSize.
type UserQuery struct {
	Limit    int    // 1 to MaxPageSize; 0: DefaultPageSize
	After    string // only names after this one; "": from the first
	Contains string // only names that contain this, ignoring case; "": all
	Sponsor  UserID // only members of this sponsor; "": all
}

// Selects reports whether q selects a user, wherever the page begins.
func (q UserQuery) Selects(u User) bool {
	return q.Matches(u.Name) && (q.Sponsor == "" || q.Sponsor == u.Sponsor)
}

// Matches reports whether a name contains q.Contains.
func (q UserQuery) Matches(name string) bool {
	return q.Contains == "" || strings.Contains(strings.ToLower(name), strings.ToLower(q.Contains))
}

// UserPage is one page of users, in the order of their names.
type UserPage struct {
	Users []User
	Next  string // the After of the next page; "": this is the last
}

// Key is an API key as it is stored. The raw key is not stored: it is shown once, when the key is made.
type Key struct {
	ID         KeyID
	User       UserID
	Name       string
	Prefix     string   // the first characters of the raw key, for display
	Hash       [32]byte // SHA-256 of the raw key
	CreatedAt  time.Time
	ExpiresAt  time.Time // zero: never
	RevokedAt  time.Time // zero: not revoked
	LastUsedAt time.Time // zero: never; may lag behind by a minute
	Limits     KeyLimits // zero: none

	// Members is how many people can become members of the user by the key, which is used on behalf of people then:
	// whatever makes or reads generations names one of them, and Limits are those of each new member, and not of the
	// key. 0: the key is for its user.
	Members int
}

// MaxMembers is the maximum of Key.Members.
const MaxMembers = 1_000_000

// CheckUsable returns nil if the key of u can be used at that time. ErrInvalidKey: the key is
// revoked, or u is disabled. ErrExpiredKey: it has only expired.
func (k Key) CheckUsable(u User, at time.Time) error {
	switch {
	case !k.RevokedAt.IsZero(), !u.DisabledAt.IsZero():
		return ErrInvalidKey
	case !k.ExpiresAt.IsZero() && !at.Before(k.ExpiresAt):
		return ErrExpiredKey
	}
	return nil
}

// KeyLimits bound what one API key, or one member, can be used for; 0, and no model, means no limit. Credits count
// charges minus refunds. A refund counts on the day of its charge. Days and months are in UTC.
type KeyLimits struct {
	Credits    Credits // in all
	Daily      Credits // on one day
	Monthly    Credits // in one calendar month
	Concurrent int     // generations of the key, or of the member, that have not ended

	// Models are the identifiers of the only models that can be seen and asked for; they need not be on offer. The
	// slice is shared by all who have the limits: replace it, but do not change what is in it.
	Models []string
}

// MaxKeyConcurrent is the maximum of KeyLimits.Concurrent.
const MaxKeyConcurrent = 1_000_000

// Limits on KeyLimits.Models.
const (
	MaxKeyModels   = 100
	MaxModelLength = 200 // bytes of one identifier
)

// IsZero reports whether nothing is limited.
func (l KeyLimits) IsZero() bool { return !l.Count() && len(l.Models) == 0 }

// Count reports whether something is limited that has to be counted: any but Models.
func (l KeyLimits) Count() bool {
	return l.Credits != 0 || l.Daily != 0 || l.Monthly != 0 || l.Concurrent != 0
}

// AllowModel reports whether a model can be seen and asked for.
func (l KeyLimits) AllowModel(id string) bool {
	return len(l.Models) == 0 || slices.Contains(l.Models, id)
}

// Check returns an ErrInvalidRequest if a limit is negative or exceeds its maximum: MaxCredits,
// or MaxKeyConcurrent for Concurrent; or if Models are too many, or one is empty, too long or named twice.
func (l KeyLimits) Check() error {
	for _, c := range []struct {
		name  string
		limit Credits
	}{{"credits", l.Credits}, {"credits per day", l.Daily}, {"credits per month", l.Monthly}} {
		if c.limit < 0 || c.limit > MaxCredits {
			return Invalid("a key's limit of %s is from 1 to %d, or 0 for none; got %d", c.name, MaxCredits, c.limit)
		}
	}
	if l.Concurrent < 0 || l.Concurrent > MaxKeyConcurrent {
		return Invalid("a key's limit of requests at once is from 1 to %d, or 0 for none; got %d", MaxKeyConcurrent,
			l.Concurrent)
	}
	if len(l.Models) > MaxKeyModels {
		return Invalid("a key's limits name at most %d models; got %d", MaxKeyModels, len(l.Models))
	}
	for i, id := range l.Models {
		if !isModel(id) || slices.Contains(l.Models[:i], id) {
			return Invalid("a key's limits name each model once, by its identifier of 1 to %d printable bytes; got "+
				"%.40q", MaxModelLength, id)
		}
	}
	return nil
}

// isModel reports whether a text can be the identifier of a model in limits, which are shown with spaces and commas
// between them.
func isModel(id string) bool {
	return id != "" && len(id) <= MaxModelLength && utf8.ValidString(id) &&
		!strings.ContainsFunc(id, func(r rune) bool { return r == ',' || unicode.IsSpace(r) || !unicode.IsPrint(r) })
}

// KeyUse is what currently counts against the limits of a key or of a member.
type KeyUse struct {
	Credits    Credits // in all
	Daily      Credits // today
	Monthly    Credits // in this month
	Concurrent int     // generations that have not ended
}

// busyKey is the RetryAfter for a key that has as many requests at once as it may have.
const busyKey = 2 * time.Second

// CheckLimits returns nil if a charge of cost stays within the limits of the key, of which used
// counts already. ErrRateLimited: the key has as many generations at once as it may have.
// ErrInsufficientCredits: the charge exceeds a limit of credits, which the message names.
func (k Key) CheckLimits(used KeyUse, cost Credits) error {
	return k.Limits.check(k.label(), k.ID, used, cost)
}

// CheckModel returns an ErrChargeRefused unless the limits of the key allow a model.
func (k Key) CheckModel(id string) error { return k.Limits.checkModel(k.label(), id) }

// CheckModel is that of a [Key], for a member.
func (u User) CheckModel(id string) error { return u.Limits.checkModel("your account", id) }

func (l KeyLimits) checkModel(name, id string) error {
	if l.AllowModel(id) {
		return nil
	}
	return ChargeRefused("%s is limited to other models than %.40q, and nothing was charged; choose one of %s", name,
		id, strings.Join(l.Models, ", "))
}

// check is CheckLimits for the key or, without one, the member of a name.
func (l KeyLimits) check(name string, key KeyID, used KeyUse, cost Credits) error {
	if l.Concurrent > 0 && used.Concurrent >= l.Concurrent {
		return &Error{Code: CodeRateLimited, RetryAfter: busyKey,
			Message: fmt.Sprintf("%s may have %d requests at once, and has %d; try again when one has ended", name,
				l.Concurrent, used.Concurrent)}
	}
	for _, c := range l.credits(used) {
		if c.limit > 0 && cost > c.limit-c.used {
			return &Error{Code: CodeInsufficientCredits, Err: &LimitError{key, c.limit, c.period},
				Message: fmt.Sprintf("%s is limited to %d credits %s; it has used %d, and this request costs %d",
					name, c.limit, c.when, c.used, cost)}
		}
	}
	return nil
}

// creditLimit is a limit of credits with what counts against it.
type creditLimit struct {
	limit, used Credits
	when        string
	period      string // see LimitError
}

// LimitError is the cause of an ErrInsufficientCredits that a limit of credits has led to.
type LimitError struct {
	Key    KeyID // whose limit it is; "": a member's
	Limit  Credits
	Period string // a day or a month, as the layout of [time.Time.Format]; "": the limit is one in all
}

// Error returns the limit.
func (e *LimitError) Error() string { return fmt.Sprintf("the limit is %d credits", e.Limit) }

// credits lists the limits of credits.
func (l KeyLimits) credits(used KeyUse) [3]creditLimit {
	return [3]creditLimit{{l.Credits, used.Credits, "in all", ""}, {l.Daily, used.Daily, "a day (UTC)", time.DateOnly},
		{l.Monthly, used.Monthly, "a month (UTC)", "2006-01"}}
}

// label names the key in messages to its holder.
func (k Key) label() string {
	if k.Name == "" {
		return fmt.Sprintf("the API key %s", k.ID)
	}
	return fmt.Sprintf("the API key %q (%s)", k.Name, k.ID)
}

// Secret is a string that is shown as "[redacted]" when it is printed, logged or encoded.
type Secret string

const redacted = "[redacted]"

// Reveal returns the secret.
func (s Secret) Reveal() string { return string(s) }

// String hides the secret.
func (Secret) String() string { return redacted }

// GoString hides the secret.
func (Secret) GoString() string { return redacted }

// LogValue hides the secret.
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText hides the secret.
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }
