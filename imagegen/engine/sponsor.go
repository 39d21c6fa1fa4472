package engine

import (
	"context"

	"github.com/imagegend/imagegend/imagegen"
)

// SetSponsor is [account.Accounts.SetSponsor] for a user without credits of its own: they would be out of reach.
// ErrInvalidRequest: also if the user has credits, or some are held for what is under way. A Store whose commits the
// ledger joins looks at that itself.
func (e *Engine) SetSponsor(ctx context.Context, member, sponsor imagegen.UserID, l imagegen.KeyLimits) error {
	if sponsor != "" && e.joint == nil {
		if own, err := e.holdsCredits(ctx, member); err != nil {
			return imagegen.ToUserError(err)
		} else if own {
			return imagegen.Invalid("this user has credits; revoke them, and wait for what is under way, before another user pays for it")
		}
	}
	return e.accounts.SetSponsor(ctx, member, sponsor, l)
}

// holdsCredits reports whether a user has credits, or some are held for open charges.
func (e *Engine) holdsCredits(ctx context.Context, u imagegen.UserID) (bool, error) {
	if l, ok := e.ledger.(imagegen.CreditAdmin); ok {
		lots, err := l.Lots(ctx, u)
		return len(lots) > 0, err
	}
	b, err := e.ledger.Balance(ctx, u)
	return b.Credits > 0, err
}

// CheckGrant returns why a user is granted no credits: somebody else pays for it. ErrInvalidRequest. The ledgers of
// this module refuse such a grant themselves.
func (e *Engine) CheckGrant(ctx context.Context, u imagegen.UserID) error {
	user, err := e.accounts.Account(ctx, u)
	if err != nil || user.Sponsor == "" {
		return err
	}
	sponsor, err := e.accounts.User(ctx, user.Sponsor)
	if err != nil {
		return err
	}
	return user.CheckGranted(sponsor)
}
