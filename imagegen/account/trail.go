package account

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// Act names an administrative act: a kind of object, a dot, and a verb.
type Act string

// The acts. A [TrailStore] records those marked with * itself, in the transaction of the write. The
// others are recorded by calls of Note, except ActSignInFailed.
const (
	ActUserCreate   Act = "user.create"        // *
	ActUserSet      Act = "user.set"           // * its account type
	ActUserSponsor  Act = "user.sponsor"       // * who pays for it, and its limits
	ActUserDisable  Act = "user.disable"       // *
	ActUserSuspend  Act = "user.suspend"       // *
	ActUserResume   Act = "user.resume"        // *
	ActUserInvite   Act = "user.invite"        // * a link by which a password is chosen, or that signs in
	ActUserAccept   Act = "user.accept"        // * such a link was used
	ActUserPassword Act = "user.password"      // * the password or the role was set
	ActSignIn       Act = "user.signin"        // *
	ActSignInFailed Act = "user.signin_failed" // recorded by TrailStore.SignInFailed
	ActSignOut      Act = "user.signout"       // * the row says in how many browsers
	ActUserView     Act = "user.view"          // an operator looked at a user's generations or ledger

	ActPasskeyCreate  Act = "passkey.create"  // *
	ActPasskeyRemove  Act = "passkey.remove"  // * one or all passkeys of a user
	ActIdentityCreate Act = "identity.create" // * a user was linked to an account at an identity provider
	ActIdentityRemove Act = "identity.remove" // *

	ActKeyCreate Act = "key.create" // *
	ActKeyRevoke Act = "key.revoke" // *
	ActKeyLimit  Act = "key.limit"  // * the limits were changed

	ActOperatorKeyCreate Act = "operator_key.create" // *
	ActOperatorKeyRevoke Act = "operator_key.revoke" // *

	ActCreditGrant  Act = "credit.grant"  // * by the CreditAdmin
	ActCreditRevoke Act = "credit.revoke" // * by the CreditAdmin

	ActGenerationView    Act = "generation.view"    // an operator read a prompt
	ActGenerationDelete  Act = "generation.delete"  // *
	ActGenerationResolve Act = "generation.resolve" // * a dispute was resolved

	ActClockConfirm Act = "clock.confirm" // *

	ActWebhookResend Act = "webhook.resend"

	ActDataAudit   Act = "data.audit"
	ActDataBackup  Act = "data.backup"
	ActDataRestore Act = "data.restore"
	ActDataMove    Act = "data.move"
	ActServeStart  Act = "serve.start"
	ActServeReload Act = "serve.reload" // the models were replaced
	ActServeStop   Act = "serve.stop"
)

// TrailOutcome is the result of an act.
type TrailOutcome string

// The outcomes.
const (
	TrailDone    TrailOutcome = "done"
	TrailBegun   TrailOutcome = "begun"   // a long act has begun; another row says how it ended
	TrailRefused TrailOutcome = "refused" // a rule forbade it; nothing was changed
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
	Target  string          // the identifier of the object that the act concerned
	User    imagegen.UserID // the owner of the target; "": none
	Before  string          // what the act changed: the former values, as name=value pairs
	After   string          // the new values
	Outcome TrailOutcome
	Count   int // for ActSignInFailed: how many failures; else 1
}

// TrailQuery selects rows, newest first. A row must match all fields; empty ones match every row.
type TrailQuery struct {
	Actor   string   // an actor's name, its user's identifier, or the form of Actor.String
	Act     string   // an act, or its kind of object: the part before the dot
	Targets []string // one of them is the identifier of the target or of its owner, see [Accounts.TrailTargets]
	Since   time.Time
	Before  uint64 // only rows with a Seq below this one; 0: from the newest
	Limit   int    // 1 to MaxTrailPage
}

// MaxTrailPage is the maximum number of rows on one page.
const MaxTrailPage = 1000

// Matches reports whether q selects a row, regardless of Before and Limit.
func (q TrailQuery) Matches(r TrailRow) bool {
	a := r.Actor
	return (q.Actor == "" || q.Actor == a.Name || q.Actor == string(a.User) || q.Actor == a.String()) &&
		(q.Act == "" || q.Act == string(r.Act) || strings.HasPrefix(string(r.Act), q.Act+".")) &&
		(len(q.Targets) == 0 || slices.Contains(q.Targets, r.Target) || slices.Contains(q.Targets, string(r.User))) &&
		!r.Time.Before(q.Since)
}

// TrailPage is one page of the trail.
type TrailPage struct {
	Rows []TrailRow
	Next uint64 // the Before of the next page; 0: this is the last
}

// TrailStore is an optional part of a Store: it keeps an audit trail. Each write for an act that is
// marked with * adds a row in its own transaction, with the actor of its context ([ActorOf]): if the
// row cannot be written, the act fails. A write that changes nothing adds no row. A refused write
// adds a row with TrailRefused, if that can be written. An [imagegen.CreditAdmin] that commits
// together with the store does the same.
type TrailStore interface {
	// Note adds a row for an act that changes nothing in the store. It sets Seq, Time and
	// Actor, and a Count of 1.
	Note(ctx context.Context, r TrailRow) error

	// SignInFailed counts a failed sign-in. Each minute has one row for each target, network
	// and Actor.Via, but at most 1,000 rows; one more row counts all others. The first failure
	// of a row is written at once. The count of further ones is written when the minute is
	// over: at the next failure, or by Trail or TidyTrail. A crash may lose it.
	SignInFailed(ctx context.Context, target imagegen.UserID, from netip.Prefix) error

	// Trail returns a page, newest first. It looks at no more than 100,000 rows that do not
	// match; the page may then be short or even empty although others follow.
	// ErrInvalidRequest: the limit is out of range.
	Trail(ctx context.Context, q TrailQuery) (TrailPage, error)

	// TidyTrail writes the counts that are due, and removes the rows that are older than
	// before, oldest first; zero: it removes none. A row from before a confirmation of the clock
	// is at least as old as that, even if its time is later. The hash of the last removed row stays, so
	// that the chain can still be verified.
	TidyTrail(ctx context.Context, before time.Time) error
}
