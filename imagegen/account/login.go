package account

import (
	"context"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// Role is what a user may do in the console.
type Role string

// The roles. An operator is a user who also sees users and the state of the service.
const (
	RoleUser     Role = "user"
	RoleOperator Role = "operator"
)

// Login is how a user signs in to the console.
type Login struct {
	User      imagegen.UserID
	Role      Role
	Password  string // argon2id in PHC form; "": none yet
	ChangedAt time.Time
}

// SignIn is one browser in which a user is signed in.
type SignIn struct {
	Hash      [32]byte // SHA-256 of what the browser holds
	User      imagegen.UserID
	CreatedAt time.Time
	SeenAt    time.Time // may lag behind by a minute
	Agent     string    // how the browser describes itself
	// ConfirmedAt is when the user last proved in this browser who they are; zero: never, they came by a link.
	ConfirmedAt time.Time
}

// Invitation lets whoever holds its link choose a user's password, once. One without a user lets them
// choose the name as well: the set-up of the first operator.
type Invitation struct {
	Hash      [32]byte        // SHA-256 of what stands in the link
	User      imagegen.UserID // "": a user is yet to be created
	Role      Role
	ExpiresAt time.Time
}

// LoginStore keeps how people sign in to the console: passwords, sign-ins, invitations, passkeys and identities. It is
// optional: nothing else needs it. The contract of [imagegen.Store] on concurrency, durability and contexts holds here too.
type LoginStore interface {
	// Login returns how a user signs in. ErrNotFound.
	Login(ctx context.Context, u imagegen.UserID) (Login, error)
	// SetLogin adds or replaces a login. When the password changes, all sign-ins of the user end.
	SetLogin(ctx context.Context, l Login) error
	// Operators tells how many logins with RoleOperator have a password. Those of users whom the same
	// store knows to be disabled do not count.
	Operators(ctx context.Context) (int, error)

	// CreateSignIn adds a sign-in.
	CreateSignIn(ctx context.Context, s SignIn) error
	// SignIn returns a sign-in, ended or not by time: who asks knows the limits. ErrNotFound.
	SignIn(ctx context.Context, hash [32]byte) (SignIn, error)
	// SignIns lists the user's sign-ins, oldest first.
	SignIns(ctx context.Context, u imagegen.UserID) ([]SignIn, error)
	// TouchSignIn records when a sign-in was last used. It may be lost in a crash. That there is none
	// is success.
	TouchSignIn(ctx context.Context, hash [32]byte, at time.Time) error
	// ConfirmSignIn records when the user of a sign-in last proved who they are. ErrNotFound.
	ConfirmSignIn(ctx context.Context, hash [32]byte, at time.Time) error
	// EndSignIns ends those of the user's sign-ins that are named; all, if none is. That there are
	// none is success.
	EndSignIns(ctx context.Context, u imagegen.UserID, hashes ...[32]byte) error
	// EndSignInsBefore ends sign-ins that were last seen before seen, or created before created.
	EndSignInsBefore(ctx context.Context, seen, created time.Time) error

	// CreateInvitation adds an invitation. A former one for the same user is gone.
	CreateInvitation(ctx context.Context, i Invitation) error
	// Invitation returns an invitation. ErrNotFound, also when it has expired at now.
	Invitation(ctx context.Context, hash [32]byte, now time.Time) (Invitation, error)
	// TakeInvitation returns an invitation and removes it: of many calls one succeeds. ErrNotFound,
	// also when it has expired at now.
	TakeInvitation(ctx context.Context, hash [32]byte, now time.Time) (Invitation, error)

	// CreatePasskey adds a passkey. A repetition is success. ErrExists: there is another with its identifier,
	// be it another user's.
	CreatePasskey(ctx context.Context, p Passkey) error
	// Passkeys lists the user's passkeys, oldest first.
	Passkeys(ctx context.Context, u imagegen.UserID) ([]Passkey, error)
	// UsePasskey records that a passkey was used, and how often its maker says it was. ErrNotFound.
	// ErrInvalidRequest: it was that often before, so that somebody has a copy; nothing is recorded. A maker that
	// does not count says 0 each time.
	UsePasskey(ctx context.Context, id PasskeyID, uses uint32, at time.Time) error
	// RemovePasskeys removes those of the user's passkeys that are named; all, if none is. It returns how many there were.
	RemovePasskeys(ctx context.Context, u imagegen.UserID, ids ...PasskeyID) (int, error)

	// CreateIdentity adds an identity. A repetition is success. ErrExists: it is another user's, or the user is
	// somebody else of the same issuer.
	CreateIdentity(ctx context.Context, i Identity) error
	// Identity returns an identity. ErrNotFound.
	Identity(ctx context.Context, issuer, subject string) (Identity, error)
	// UserIdentity returns who a user is of an issuer. ErrNotFound.
	UserIdentity(ctx context.Context, u imagegen.UserID, issuer string) (Identity, error)
	// RemoveIdentity removes who a user is of an issuer. That there is none is success.
	RemoveIdentity(ctx context.Context, u imagegen.UserID, issuer string) error
}
