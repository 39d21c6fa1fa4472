// Package rules is what every storage checks of a record before it writes it, and what follows from that. Its functions
// write nothing themselves. A storage calls them within a transaction and gives them what they need of it: Accounts to
// look things up, ledger.Books for the credits. So memory, bbolt and PostgreSQL refuse the same requests, in the same
// order, with the same errors.
package rules

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/clock"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

// New returns why a record cannot be created, whatever the storage has; nil if it can. imagegen.ErrInvalidRequest: its
// user, its identifier or its state is not that of a new record. An imagegen.Violation: it is not sound.
func New(r imagegen.Record) error {
	switch {
	case !r.User.Valid():
		return r.User.Check()
	case r.ID == "" || strings.Contains(string(r.ID), "\x00"):
		return imagegen.Invalid("a generation's identifier is not empty and holds no NUL; got %q", r.ID)
	case r.State != imagegen.StateCharging:
		return imagegen.Invalid("generation %s is created in state %q; it must be %q", r.ID, r.State,
			imagegen.StateCharging)
	}
	return r.Check()
}

// Accounts finds whom a record belongs to, in the transaction that is to write it. Each method returns
// imagegen.ErrNotFound for what the storage does not know.
type Accounts interface {
	User(imagegen.UserID) (imagegen.User, error)
	Key(imagegen.KeyID) (imagegen.Key, error)
	Reserved(u imagegen.UserID, idempotencyKey string) (imagegen.Record, error)
}

// Asked returns why a new record cannot be had: its API key, its user, its idempotency key, in
// this order; last whether the user is suspended and may use the model, so that what was charged before is answered all
// the same. at is the time of the commit: the record may be older, since its call waited for a slot.
func Asked(in Accounts, r imagegen.Record, at clock.Reading) error {
	u, err := in.User(r.User)
	if err != nil && !errors.Is(err, imagegen.ErrNotFound) { // an embedder's users are its own
		return err
	}
	var k imagegen.Key // of who asks without: it refuses a disabled user
	if r.KeyID != "" {
		k, err = in.Key(r.KeyID)
		if err == nil && k.Members > 0 && u.Sponsor != k.User {
			return imagegen.ChargeRefused("%q is not a member of the account any more, and nothing was charged", u.Name)
		}
		if errors.Is(err, imagegen.ErrNotFound) || err == nil && k.User != asks(k, r) {
			return imagegen.ErrInvalidKey
		}
		if err != nil {
			return err
		}
	}
	holder := u
	if k.Members > 0 {
		if holder, err = in.User(k.User); err != nil && !errors.Is(err, imagegen.ErrNotFound) {
			return err
		}
	}
	if err := k.CheckUsable(holder, at.Now); err != nil {
		return err
	}
	if !u.DisabledAt.IsZero() {
		return imagegen.ChargeRefused("%q is disabled, and nothing was charged; the owner of the account can say why", u.Name)
	}
	if err := free(in, r, at); err != nil {
		return err
	}
	if err := u.CheckNotSuspended(); err != nil {
		return err
	}
	if k.Members == 0 {
		if err := k.CheckModel(r.Model); err != nil {
			return err
		}
	}
	if err := u.CheckModel(r.Model); err != nil {
		return err
	}
	return pays(in, u, r)
}

// asks returns to whom the API key of a record has to belong: to the user or, if it is on behalf of people, to the
// payer.
func asks(k imagegen.Key, r imagegen.Record) imagegen.UserID {
	if k.Members > 0 {
		return r.Payer
	}
	return r.User
}

// pays returns why the payer of a record cannot pay for its user; nil if it can.
func pays(in Accounts, u imagegen.User, r imagegen.Record) error {
	if u.Sponsor != r.Payer {
		return fmt.Errorf("%w: who pays for the user has changed since the request was planned", imagegen.ErrNotApplied)
	}
	if u.Sponsor == "" {
		return nil
	}
	sponsor, err := in.User(u.Sponsor)
	if err != nil {
		return err
	}
	return u.CheckPays(sponsor)
}

// Member returns why a user with a sponsor cannot be added; nil if it can. The sponsor has so many members already.
func Member(in Accounts, u imagegen.User, members, most int) error {
	if err := cmp.Or(u.ID.Check(), u.Limits.Check()); err != nil {
		return err
	}
	if members >= most {
		return imagegen.ChargeRefused("this account has %d members, and its key admits no more; ask its owner", members)
	}
	_, err := Sponsor(in, u, u.Sponsor, u.Limits, Own{})
	return err
}

// Own is what a user has that keeps it from getting a sponsor.
type Own struct {
	Members bool
	Credits bool // also those that are held for open charges
}

// Sponsor returns a user as it is once a sponsor pays for it; with sponsor "" nobody else does. An error: it cannot be.
// A user for whom no account type was set has that of its sponsor from then on.
func Sponsor(in Accounts, u imagegen.User, sponsor imagegen.UserID, l imagegen.KeyLimits, has Own) (imagegen.User,
	error) {
	if err := l.Check(); err != nil {
		return u, err
	}
	if sponsor == "" && !l.IsZero() {
		return u, imagegen.Invalid("limits are those of a member; name the sponsor of user %q", u.Name)
	}
	if sponsor != "" {
		if err := sponsored(in, u, sponsor, has); err != nil {
			return u, err
		}
	}
	switch {
	case sponsor == "":
		u.AccountType = cmp.Or(u.AccountType, imagegen.DefaultAccountType)
	case u.Sponsor == "" && u.AccountType == imagegen.DefaultAccountType:
		u.AccountType = ""
	}
	u.Sponsor, u.Limits = sponsor, l
	return u, nil
}

// sponsored returns why a user cannot get a sponsor; nil if it can.
func sponsored(in Accounts, u imagegen.User, sponsor imagegen.UserID, has Own) error {
	s, err := in.User(sponsor)
	switch {
	case err != nil:
		return err
	case s.ID == u.ID:
		return imagegen.Invalid("user %q cannot pay for itself as a sponsor", u.Name)
	case s.Sponsor != "":
		return imagegen.Invalid("user %q has a sponsor and cannot be one; name the one who pays for it", s.Name)
	case has.Members:
		return imagegen.Invalid("user %q pays for others and cannot get a sponsor; end that first", u.Name)
	case has.Credits:
		return imagegen.Invalid("user %q has credits; revoke them, and wait for what is under way, before another user pays for it", u.Name)
	}
	return nil
}

// Granted returns why a user is granted no credits: a sponsor pays for it. nil if nobody does.
func Granted(in Accounts, id imagegen.UserID) error {
	u, err := in.User(id)
	if errors.Is(err, imagegen.ErrNotFound) { // an embedder's own
		return nil
	}
	if err != nil || u.Sponsor == "" {
		return err
	}
	sponsor, err := in.User(u.Sponsor)
	if err != nil {
		return err
	}
	return u.CheckGranted(sponsor)
}

// NotifyBelow returns why a user cannot have an amount as its NotifyBelow; nil if it can.
func NotifyBelow(below imagegen.Credits) error {
	if below == 0 || below.Valid() {
		return nil
	}
	return imagegen.Invalid("a low balance is from 1 to %d credits, or 0 for none; got %d", imagegen.MaxCredits, below)
}

// free returns an *imagegen.IdempotencyKeyTakenError if another record holds the idempotency key of r and still
// reserves it.
func free(in Accounts, r imagegen.Record, at clock.Reading) error {
	if r.IdempotencyKey == "" {
		return nil
	}
	former, err := in.Reserved(r.User, r.IdempotencyKey)
	switch {
	case errors.Is(err, imagegen.ErrNotFound):
		return nil
	case err != nil:
		return err
	case former.HoldsIdempotencyKey(at.Age(former.CompletedAt)):
		return &imagegen.IdempotencyKeyTakenError{Record: former}
	}
	return nil
}

// Unlimited returns why a record cannot be created whose charge is made separately; nil if it can. It refuses API keys
// and members with limits that count, which can only be enforced in the commit that charges.
func Unlimited(in Accounts, r imagegen.Record) error {
	by, err := asker(in, r)
	switch {
	case err != nil:
		return err
	case by.Key.Members == 0 && by.Key.Limits.Count():
		return imagegen.ChargeRefused("the limits of the API key %s cannot be kept here; use one without limits",
			by.Key.ID)
	case by.Member.Limits.Count():
		return imagegen.ChargeRefused("the limits of your account cannot be kept here; ask the operator of this service")
	}
	return nil
}

// asker finds who asks for a record's charge.
func asker(in Accounts, r imagegen.Record) (by ledger.Asker, err error) {
	if r.KeyID != "" {
		if by.Key, err = in.Key(r.KeyID); err != nil {
			return by, err
		}
	}
	if r.Payer != "" {
		by.Member, err = in.User(r.User)
	}
	return by, err
}

// Charge takes what a record costs, within the limits of the API key that asked and of the member who did. A refusal
// comes before any write.
func Charge(in Accounts, b ledger.Books, r imagegen.Record) error {
	by, err := asker(in, r)
	if err != nil {
		return err
	}
	return b.Charge(r.Charge(), by)
}

// Settle closes the charge of a record whose outcome is recorded, and returns the record as it ends. If the ledger
// refuses for good, the record ends in dispute; any other error is returned, and the record stays as it is. The
// balance that the record wants is read after the charge was closed, so that it includes the refund.
func Settle(in Accounts, b ledger.Books, r imagegen.Record, accountType string) (imagegen.Record, error) {
	refusal := closeCharge(b, r)
	if refusal != nil && !imagegen.Permanent(refusal) {
		return r, refusal
	}
	var balance *imagegen.Balance
	if r.WantsBalance() {
		after := b.Balance(r.Account())
		shown := true
		if r.Payer != "" {
			u, err := in.User(r.User)
			shown = err == nil && u.Sponsor == r.Payer // what somebody else has is not the user's to see
			after = u.Left(after, b.MemberUse(r.Payer, r.User))
		}
		if after.AccountType = accountType; shown {
			balance = &after
		}
	}
	var end imagegen.Change = imagegen.CloseChange{Balance: balance}
	if refusal != nil {
		end = imagegen.DisputeChange{Detail: refusal.Error(), Balance: balance}
	}
	ended, _, err := r.Apply(r.Attempt, end)
	return ended, err
}

// closeCharge settles the charge of a record whose outcome is known, or cancels it if its owner cancelled the
// generation.
func closeCharge(b ledger.Books, r imagegen.Record) error {
	if r.Cancelled() {
		return b.Cancel(r.Charge().ID)
	}
	return b.Settle(r.Charge().ID, r.Used())
}

// Act is the row of the audit trail for a change to a generation; false: the change gets none, as an erasure by age.
// The storage fills in the time and the actor.
func Act(c imagegen.Change, from, to imagegen.Record) (account.TrailRow, bool) {
	r := account.TrailRow{Target: string(from.ID), User: from.User, Outcome: account.TrailDone}
	switch c := c.(type) {
	case imagegen.EraseChange:
		r.Act, r.Before = account.ActGenerationDelete, trail.Fields("status", from.Status(), "images", from.Published)
		return r, !c.Aged
	case imagegen.ResolveChange:
		r.Act, r.Before, r.After = account.ActGenerationResolve, trail.Fields("disputed", from.Used()),
			trail.Fields("spent", to.Used())
		return r, true
	}
	return r, false
}

// Charged compares a record with its charge in the books that share transactions with it. There need not be a
// charge, since the engine may use another ledger, unless joint says that it was made in the commit that accepted
// the generation.
func Charged(tx ledger.Tx, r imagegen.Record, joint bool) error {
	known, err := ledger.CheckCharge(tx, r)
	if err == nil && !known && joint {
		return imagegen.Violation{Rule: "generation charge", Subject: string(r.ID),
			Detail: "it was charged here, and there is no such charge"}
	}
	return err
}

// Found reports the error of a check of a generation. One that is not a violation comes from a charge that cannot be
// read.
func Found(report func(imagegen.Violation), id imagegen.GenerationID, err error) {
	v, ok := errors.AsType[imagegen.Violation](err)
	switch {
	case ok:
		report(v)
	case err != nil:
		report(imagegen.Violation{Rule: "generation charge", Subject: string(id), Detail: err.Error()})
	}
}

// Uncreated reports charges that are open or were spent, and have the identifiers of generations that do not exist. It
// is not for books that serve another store, whose generations are not here. Charges whose identifiers cannot be those
// of generations are an embedder's own.
func Uncreated(ctx context.Context, rows ledger.Rows, exists func(imagegen.GenerationID) bool,
	report func(imagegen.Violation)) {
	ledger.Unreturned(rows, func(id imagegen.ChargeID) bool {
		if g := imagegen.GenerationID(id); g.Valid() && !exists(g) {
			report(imagegen.Violation{Rule: "generation charge", Subject: string(g),
				Detail: "it was charged, and does not exist"})
		}
		return ctx.Err() == nil
	})
}

// Waits reports whether another attempt at a generation may come, so that its reference images are still needed.
func Waits(r imagegen.Record) bool {
	return r.Async && (r.State == imagegen.StateQueued || r.State == imagegen.StateProcessing)
}

// Clone returns a record that shares no memory with r that can change.
func Clone(r imagegen.Record) imagegen.Record {
	r.Options = r.Options.Clone()
	r.References, r.Images = slices.Clone(r.References), slices.Clone(r.Images)
	r.Job, r.JobUpstreams = slices.Clone(r.Job), slices.Clone(r.JobUpstreams)
	r.Costs = slices.Clone(r.Costs)
	r.Failure, r.Balance = clone(r.Failure), clone(r.Balance)
	if r.Balance != nil {
		r.Balance.NextExpiration = clone(r.Balance.NextExpiration)
	}
	return r
}

func clone[T any](v *T) *T {
	if v == nil {
		return nil
	}
	return new(*v)
}
