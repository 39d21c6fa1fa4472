package account

import (
	"context"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// Role is what a user may do in the console.
type Role string

// The roles. An operator is a user who can also see all users and the state of the
// service.
const (
	RoleUser     Role = "user"
	RoleOperator Role = "operator"
)

// Login is the role of a user in the console, and the hash of the password.
type Login struct {
	User      imagegen.UserID
	Role      Role
	Password  string // an argon2id hash in PHC format; "": no password yet
	ChangedAt time.Time
}

// SignIn is a user's session in one browser.
type SignIn struct {
	Hash      [32]byte // SHA-256 of the secret in the browser's cookie
	User      imagegen.UserID
	CreatedAt time.Time
	SeenAt    time.Time // when it was last used; may lag behind by a minute
	Agent     string    // a description of the browser
	// ConfirmedAt is when the user last proved their identity in this browser; zero:
	// never, since they signed in by a link.
	ConfirmedAt time.Time
}

// Invitation belongs to a one-time link, with which its holder chooses a user's password or signs
// in. An invitation without a user is for the first operator, who also chooses the user's name.
type Invitation struct {
	Hash      [32]byte        // SHA-256 of the secret in the link
	User      imagegen.UserID // "": the user will be created
	Role      Role
	ExpiresAt time.Time
}

// Identity connects a user with an account at an identity provider, by OpenID Connect.
type Identity struct {
	Issuer    string // the identity provider
	Subject   string // the identifier of the account at the issuer; unlike a name or an address, it never changes
	User      imagegen.UserID
	CreatedAt time.Time
}

// LoginStore keeps how people sign in to the console: passwords, sign-ins, invitations,
// passkeys and identities. It is optional; only the console needs it. The contract of
// [imagegen.Store] on concurrency, durability and contexts holds here too.
type LoginStore interface {
	// Login returns the login of a user. ErrNotFound.
	Login(ctx context.Context, u imagegen.UserID) (Login, error)
	// SetLogin adds or replaces a login. If the password changes, all sign-ins of the user end.
	SetLogin(ctx context.Context, l Login) error
	// Operators returns how many logins with RoleOperator have a password. It does not count
	// users whom the same store knows to be disabled.
	Operators(ctx context.Context) (int, error)

	// CreateSignIn adds a sign-in. Repeating it succeeds.
	CreateSignIn(ctx context.Context, s SignIn) error
	// SignIn returns a sign-in, however old it is: the caller checks its age. ErrNotFound.
	SignIn(ctx context.Context, hash [32]byte) (SignIn, error)
	// SignIns lists the user's sign-ins, oldest first.
	SignIns(ctx context.Context, u imagegen.UserID) ([]SignIn, error)
	// TouchSignIn records when a sign-in was last used. A crash may lose it. A time that is
	// earlier than the recorded one changes nothing, unless that one is later than the store's
	// clock can have written. It succeeds if there is no such sign-in.
	TouchSignIn(ctx context.Context, hash [32]byte, at time.Time) error
	// ConfirmSignIn records when the user of a sign-in last proved who they are. ErrNotFound.
	ConfirmSignIn(ctx context.Context, hash [32]byte, at time.Time) error
	// EndSignIns ends the sign-ins of the user that have the given hashes, or all of them
	// without hashes. It succeeds if there are none.
	EndSignIns(ctx context.Context, u imagegen.UserID, hashes ...[32]byte) error
	// EndSignInsAged ends the sign-ins of all users that were last used at least idle ago, or
	// created at least whole ago, by the store's clock: see [imagegen.Timekeeper].
	EndSignInsAged(ctx context.Context, idle, whole time.Duration) error

	// CreateInvitation adds an invitation and removes an earlier one for the same user.
	CreateInvitation(ctx context.Context, i Invitation) error
	// Invitation returns an invitation. ErrNotFound: there is none, or it has expired by now.
	Invitation(ctx context.Context, hash [32]byte, now time.Time) (Invitation, error)
	// TakeInvitation returns an invitation and removes it. Of several concurrent calls
	// exactly one succeeds. ErrNotFound as for Invitation.
	TakeInvitation(ctx context.Context, hash [32]byte, now time.Time) (Invitation, error)

	// Secret returns 256 random bits that are the same for every program on this store, and stay
	// the same: the first call makes them. The console seals with them what browsers carry.
	Secret(ctx context.Context) ([32]byte, error)
	// Mark keeps keys until a time, for limits that several programs share and for what works
	// once. In one transaction it passes change the time until which each of the keys is kept
	// (zero: it is not, or no longer at now), and stores the times as change leaves them if that
	// returns true. A time that is not after now removes its key. Each key is named once.
	//
	// change may be called more than once, and on another goroutine; only its last call counts,
	// so it must not add to what it captures. If it returns false, Mark only reads. What the last
	// second brought may be lost in a crash. Unlike other writes, it is not idempotent.
	Mark(ctx context.Context, now time.Time, keys [][32]byte, change func(until []time.Time) bool) error

	// CreatePasskey adds a passkey. Repeating it succeeds. ErrExists: this or another user has
	// another passkey with its identifier.
	CreatePasskey(ctx context.Context, p Passkey) error
	// Passkeys lists the user's passkeys, oldest first.
	Passkeys(ctx context.Context, u imagegen.UserID) ([]Passkey, error)
	// UsePasskey records that a passkey was used, with the counter of its authenticator.
	// ErrNotFound. ErrInvalidRequest: the counter has not risen, so somebody has a copy of
	// the passkey; nothing is recorded. An authenticator that does not count sends 0 each
	// time.
	UsePasskey(ctx context.Context, id PasskeyID, uses uint32, at time.Time) error
	// RemovePasskeys removes the passkeys of the user that have the given identifiers, or all
	// of them without identifiers. It returns how many it removed.
	RemovePasskeys(ctx context.Context, u imagegen.UserID, ids ...PasskeyID) (int, error)

	// CreateIdentity adds an identity. Repeating it succeeds. ErrExists: it belongs to
	// another user, or the user has another identity at the same issuer.
	CreateIdentity(ctx context.Context, i Identity) error
	// Identity returns an identity. ErrNotFound.
	Identity(ctx context.Context, issuer, subject string) (Identity, error)
	// UserIdentity returns a user's identity at an issuer. ErrNotFound.
	UserIdentity(ctx context.Context, u imagegen.UserID, issuer string) (Identity, error)
	// RemoveIdentity removes a user's identity at an issuer. It succeeds if there is none.
	RemoveIdentity(ctx context.Context, u imagegen.UserID, issuer string) error
}
