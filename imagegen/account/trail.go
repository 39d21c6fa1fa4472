package account

import (
	"context"
	"net/netip"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// Act names what was done: a kind of thing, a point, and a verb.
type Act string

// The acts. Those marked with * a [TrailStore] records of its own accord, in the transaction of the
// write; the others by Note.
const (
	ActUserCreate   Act = "user.create"        // *
	ActUserSet      Act = "user.set"           // * its account type
	ActUserDisable  Act = "user.disable"       // *
	ActUserSuspend  Act = "user.suspend"       // *
	ActUserResume   Act = "user.resume"        // *
	ActUserInvite   Act = "user.invite"        // * a link by which a password is chosen, or that signs in
	ActUserAccept   Act = "user.accept"        // * such a link was used
	ActUserPassword Act = "user.password"      // * or the role
	ActSignIn       Act = "user.signin"        // *
	ActSignInFailed Act = "user.signin_failed" // by SignInFailed
	ActSignOut      Act = "user.signout"       // * in how many browsers
	ActUserView     Act = "user.view"          // an operator looked at a user's generations, or ledger

	ActPasskeyCreate  Act = "passkey.create"  // *
	ActPasskeyRemove  Act = "passkey.remove"  // * of a user, one or all
	ActIdentityCreate Act = "identity.create" // * a user was linked to an account at an identity provider
	ActIdentityRemove Act = "identity.remove" // *

	ActKeyCreate Act = "key.create" // *
	ActKeyRevoke Act = "key.revoke" // *
	ActKeyLimit  Act = "key.limit"  // * what it may be used for

	ActOperatorKeyCreate Act = "operator_key.create" // *
	ActOperatorKeyRevoke Act = "operator_key.revoke" // *

	ActCreditGrant  Act = "credit.grant"  // * by the CreditAdmin
	ActCreditRevoke Act = "credit.revoke" // * by the CreditAdmin

	ActGenerationView    Act = "generation.view"    // an operator read a prompt
	ActGenerationDelete  Act = "generation.delete"  // *
	ActGenerationResolve Act = "generation.resolve" // * a charge that the ledger refused to settle

	ActClockConfirm Act = "clock.confirm" // *

	ActDataAudit   Act = "data.audit"
	ActDataBackup  Act = "data.backup"
	ActDataRestore Act = "data.restore"
	ActDataMove    Act = "data.move"
	ActServeStart  Act = "serve.start"
	ActServeReload Act = "serve.reload" // of the models
	ActServeStop   Act = "serve.stop"
)

// TrailOutcome is the result of an act.
type TrailOutcome string

// The outcomes.
const (
	TrailDone    TrailOutcome = "done"
	TrailBegun   TrailOutcome = "begun"   // a long act has begun; another row says how it ended
	TrailRefused TrailOutcome = "refused" // by a rule; nothing was changed
	TrailFailed  TrailOutcome = "failed"
)

// TrailRow is one row of the audit trail. Rows are never changed, and removed only from
// the oldest end; each carries the hash of the one before it. They contain neither
// prompts nor secrets.
type TrailRow struct {
	Seq     uint64 // from 1, without gaps
	Time    time.Time
	Actor   Actor
	Act     Act
	Target  string          // the identifier of what the act was about
	User    imagegen.UserID // whose it is; "": nobody's
	Before  string          // what the act changed, as name=value
	After   string
	Outcome TrailOutcome
	Count   int // how often: failed sign-ins are counted, 1 elsewhere
}

// TrailQuery selects rows, newest first. Empty fields select all.
type TrailQuery struct {
	Actor  string // a name, a user's identifier, or both as Actor.String shows them
	Act    string // an act, or the kind of thing before the point
	Target string // an identifier: of the target, or of the user whose it is
	Since  time.Time
	Before uint64 // only rows before this one; 0: from the newest
	Limit  int    // 1 to MaxTrailPage
}

// MaxTrailPage is the maximum number of rows on one page.
const MaxTrailPage = 1000

// Matches reports whether q selects a row, regardless of Before and Limit.
func (q TrailQuery) Matches(r TrailRow) bool {
	a := r.Actor
	return (q.Actor == "" || q.Actor == a.Name || q.Actor == string(a.User) || q.Actor == a.String()) &&
		(q.Act == "" || q.Act == string(r.Act) || strings.HasPrefix(string(r.Act), q.Act+".")) &&
		(q.Target == "" || q.Target == r.Target || q.Target == string(r.User)) &&
		!r.Time.Before(q.Since)
}

// TrailPage is one page of the trail.
type TrailPage struct {
	Rows []TrailRow
	Next uint64 // the Before of the next page; 0: this is the last
}

// TrailStore is an optional part of a Store: it keeps an audit trail. Each write that is
// marked in the list of acts adds a row in its own transaction, with the actor of its
// context ([ActorOf]): if the row cannot be written, the act does not happen. A write
// that changes nothing leaves no row. A refused one leaves a row with TrailRefused, if
// that can be written. The [imagegen.CreditAdmin] that commits together with the store
// does the same.
type TrailStore interface {
	// Note adds a row for an act that changes nothing in the store. It fills in Seq, Time
	// and Actor, and a Count of 1.
	Note(ctx context.Context, r TrailRow) error

	// SignInFailed counts a failed sign-in: one row a minute for each target and network,
	// at most 1,000 rows a minute, and one row for all others. The first failure of a
	// minute is written at once. Further ones are written when the minute is over: at the
	// next failure, or by Trail or TidyTrail. A crash may lose them.
	SignInFailed(ctx context.Context, target imagegen.UserID, from netip.Prefix) error

	// Trail returns a page, newest first. It looks at no more than 100,000 rows that do
	// not match, and may then return a short or even empty page that others follow.
	// ErrInvalidRequest: the limit is out of range.
	Trail(ctx context.Context, q TrailQuery) (TrailPage, error)

	// TidyTrail writes the counts that are due, and removes rows from before a time,
	// oldest first; zero: it removes none. The hash of the last removed row stays, so that
	// the chain can still be verified.
	TidyTrail(ctx context.Context, before time.Time) error
}
