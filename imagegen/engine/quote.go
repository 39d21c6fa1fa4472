package engine

import (
	"context"
	"errors"

	"github.com/imagegend/imagegend/imagegen"
)

// Quote implements [imagegen.Service]. It does not ask Config.Admit.
func (s *Session) Quote(ctx context.Context, q imagegen.GenerateRequest) (imagegen.Quote, error) {
	quote, err := s.Price(q)
	if err == nil {
		quote.Balance, err = s.Balance(ctx)
	}
	return quote, err
}

// Price is Quote without the balance. It is a pure function of the request and the models
// on offer.
func (s *Session) Price(q imagegen.GenerateRequest) (imagegen.Quote, error) {
	r, _, err := s.engine.plan(s.user, q)
	if err != nil {
		return imagegen.Quote{}, err
	}
	return imagegen.Quote{Model: r.Model, Ratio: r.Ratio, Tier: r.Tier, N: r.N, Price: r.Price, Credits: r.Charge().Credits}, nil
}

// Usage implements [imagegen.Service].
func (s *Session) Usage(ctx context.Context, q imagegen.UsageQuery) (imagegen.UsageReport, error) {
	if err := s.user.Check(); err != nil {
		return imagegen.UsageReport{}, err
	}
	q, err := q.Days(s.engine.now())
	if err != nil {
		return imagegen.UsageReport{}, err
	}
	l, ok := s.engine.ledger.(imagegen.CreditAdmin)
	if !ok {
		return imagegen.UsageReport{}, &imagegen.Error{Code: imagegen.CodeNotFound, Message: "this service does not sum up usage"}
	}
	rows, err := l.Usage(ctx, s.user, q)
	return imagegen.UsageReport{UsageQuery: q, Rows: rows}, imagegen.ToUserError(err)
}

// busy returns ErrRateLimited if the session's key has as many generations at once as it
// may have. The commit that charges decides that; busy reports it earlier, before the
// call waits for anything.
func (s *Session) busy(ctx context.Context) error {
	l, ok := s.engine.ledger.(imagegen.CreditAdmin)
	if s.key == "" || !ok {
		return nil
	}
	k, err := s.engine.accounts.KeyByHash(ctx, s.hash)
	if err != nil || k.Limits.AtOnce == 0 {
		return err
	}
	use, err := l.KeyUse(ctx, s.user, s.key)
	if err != nil {
		return imagegen.ToUserError(err)
	}
	if over := k.Exceeds(use, 0); errors.Is(over, imagegen.ErrRateLimited) {
		return over
	}
	return nil
}
