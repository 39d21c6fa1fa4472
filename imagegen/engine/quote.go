package engine

import (
	"context"

	"github.com/imagegend/imagegend/imagegen"
)

// Quote implements [imagegen.Service]. It does not call Config.Admit.
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
