package trail

import (
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// What each act on users, keys and sign-ins changes, in the words of its row. All storages use these functions, so
// that their rows say the same. No row holds a secret, nor its hash: of a key it has the prefix that is shown, and of a
// password only whether it is new.

// UserCreated is the change of a new user.
func UserCreated(u imagegen.User) Change {
	after := Fields("name", u.Name, "account_type", u.AccountType, "sponsor", u.Sponsor)
	return Change{Target: string(u.ID), User: u.ID, After: after + limited(u.Limits)}
}

// UserChanged tells how a user stood before and stands after a change.
func UserChanged(from, to imagegen.User) Change {
	standing := func(u imagegen.User) string {
		written := Fields("account_type", u.AccountType, "disabled_at", u.DisabledAt, "suspended_at", u.SuspendedAt,
			"sponsor", u.Sponsor)
		if u.NotifyBelow > 0 {
			written += " " + Fields("notify_below", u.NotifyBelow)
		}
		return written + limited(u.Limits)
	}
	return Change{Target: string(to.ID), User: to.ID, Before: standing(from), After: standing(to)}
}

// KeyCreated is the change of a new key.
func KeyCreated(k imagegen.Key) Change {
	after := Fields("name", k.Name, "prefix", k.Prefix, "expires_at", k.ExpiresAt)
	if k.Members > 0 {
		after += " " + Fields("members", k.Members)
	}
	return Change{Target: string(k.ID), User: k.User, After: after + limited(k.Limits)}
}

// KeyLimited tells the limits of a key before and after a change.
func KeyLimited(from, to imagegen.Key) Change {
	return Change{Target: string(to.ID), User: to.User, Before: limits(from.Limits), After: Fields("name", to.Name,
		"prefix", to.Prefix) + limited(to.Limits)}
}

// limited is limits behind other fields, with the space between them; "" if there are none.
func limited(l imagegen.KeyLimits) string {
	if l.IsZero() {
		return ""
	}
	return " " + limits(l)
}

func limits(l imagegen.KeyLimits) string {
	return Fields("credits", l.Credits, "daily_credits", l.Daily, "monthly_credits", l.Monthly, "at_once", l.Concurrent,
		"models", strings.Join(l.Models, ","))
}

// KeyRevoked is the change of a key that is revoked.
func KeyRevoked(_, k imagegen.Key) Change {
	return Change{Target: string(k.ID), User: k.User, After: Fields("name", k.Name, "prefix", k.Prefix, "revoked_at",
		k.RevokedAt)}
}

// OperatorKeyCreated is the change of a new operator key.
func OperatorKeyCreated(k account.OperatorKey) Change {
	return Change{Target: string(k.ID), After: Fields("name", k.Name, "prefix", k.Prefix, "scopes", string(k.Scopes),
		"expires_at", k.ExpiresAt)}
}

// OperatorKeyRevoked is the change of an operator key that is revoked.
func OperatorKeyRevoked(k account.OperatorKey) Change {
	return Change{Target: string(k.ID), After: Fields("name", k.Name, "prefix", k.Prefix, "revoked_at", k.RevokedAt)}
}

// Invited is the change of an invitation.
func Invited(i account.Invitation) Change {
	return Change{Target: string(i.User), User: i.User, After: invitation(i)}
}

// Accepted is the change of an invitation that was used.
func Accepted(i account.Invitation) Change {
	return Change{Target: string(i.User), User: i.User, Before: invitation(i)}
}

func invitation(i account.Invitation) string {
	return Fields("role", i.Role, "expires_at", i.ExpiresAt)
}

// LoginSet is the change of a login that was set; it says whether the password is another. It is the zero Change if
// neither the role nor the password has changed.
func LoginSet(from, to account.Login) Change {
	if from.User != "" && from.Role == to.Role && from.Password == to.Password {
		return Change{}
	}
	return Change{Target: string(to.User), User: to.User, Before: login(from, from), After: login(from, to)}
}

// login describes a login. Of its password it says only whether there is one, and whether it is new.
func login(former, l account.Login) string {
	password := "set"
	switch l.Password {
	case "":
		password = "none"
	case former.Password:
	default:
		password = "new"
	}
	return Fields("role", l.Role, "password", password)
}

// SignedIn is the change of a sign-in.
func SignedIn(s account.SignIn) Change {
	return Change{Target: string(s.User), User: s.User, After: Fields("agent", s.Agent)}
}

// SignedOut tells in how many browsers a user was signed out; the zero Change: in none.
func SignedOut(u imagegen.UserID, browsers int) Change {
	if browsers == 0 {
		return Change{}
	}
	return Change{Target: string(u), User: u, Before: Fields("browsers", browsers)}
}

// PasskeyCreated is the change of a new passkey.
func PasskeyCreated(p account.Passkey) Change {
	return Change{Target: string(p.User), User: p.User, After: Fields("name", p.Name)}
}

// PasskeysRemoved tells which passkeys a user lost; the zero Change if there were none.
func PasskeysRemoved(u imagegen.UserID, gone []account.Passkey) Change {
	if len(gone) == 0 {
		return Change{}
	}
	var named []any
	for _, p := range gone {
		named = append(named, "name", p.Name)
	}
	return Change{Target: string(u), User: u, Before: Fields(named...)}
}

// IdentityCreated tells which account at an identity provider a user was joined to.
func IdentityCreated(i account.Identity) Change {
	return Change{Target: string(i.User), User: i.User, After: identity(i)}
}

// IdentityRemoved tells which account at an identity provider a user was separated from.
func IdentityRemoved(i account.Identity) Change {
	return Change{Target: string(i.User), User: i.User, Before: identity(i)}
}

func identity(i account.Identity) string { return Fields("issuer", i.Issuer, "subject", i.Subject) }
