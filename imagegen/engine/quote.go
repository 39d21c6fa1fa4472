package engine

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
)

// Quote implements [imagegen.Service]. It does not call Config.Admit.
func (s *Session) Quote(ctx context.Context, q imagegen.GenerateRequest) (imagegen.Quote, error) {
	quote, err := s.Price(ctx, q)
	if err == nil {
		quote.Balance, err = s.Balance(ctx)
	}
	return quote, err
}

// Price is Quote without the balance.
func (s *Session) Price(ctx context.Context, q imagegen.GenerateRequest) (imagegen.Quote, error) {
	v, err := s.view(ctx)
	if err != nil {
		return imagegen.Quote{}, err
	}
	r, m, err := s.engine.plan(s.user, v, q)
	if err != nil {
		return imagegen.Quote{}, err
	}
	p, err := s.price(ctx, m, r, attached{len(q.References), q.Mask != nil})
	r.Price = p.image
	return imagegen.Quote{Model: r.Model, Ratio: r.Ratio, Tier: r.Tier, Effort: r.Effort, N: r.N, Price: r.Price,
		ReferenceCredits: p.reference, Credits: r.Charge().Credits}, err
}

// Usage implements [imagegen.Service].
func (s *Session) Usage(ctx context.Context, q imagegen.UsageQuery) (imagegen.UsageReport, error) {
	if err := s.user.Check(); err != nil {
		return imagegen.UsageReport{}, err
	}
	l, ok := s.engine.ledger.(imagegen.CreditAdmin)
	if !ok {
		return imagegen.UsageReport{}, &imagegen.Error{Code: imagegen.CodeNotFound,
			Message: "this service does not sum up usage"}
	}
	user, err := s.account(ctx)
	if err != nil {
		return imagegen.UsageReport{}, err
	}
	if user.Sponsor != "" {
		q.Member = s.user
	}
	today, err := l.Today(ctx, user.Payer())
	if err != nil {
		return imagegen.UsageReport{}, imagegen.ToUserError(err)
	}
	if q, err = q.WithDefaults(today); err != nil {
		return imagegen.UsageReport{}, err
	}
	end, err := s.engine.lists.take(ctx, s.user, rowsOfUser) // a report has up to 10,000 short rows
	if err != nil {
		return imagegen.UsageReport{}, err
	}
	defer end()
	rows, err := l.Usage(ctx, user.Payer(), q)
	if err == nil {
		err = s.engine.nameMembers(ctx, rows)
	}
	if err != nil {
		return imagegen.UsageReport{}, imagegen.ToUserError(err)
	}
	return imagegen.UsageReport{UsageQuery: q, Rows: rows}, nil
}

// nameMembers fills in the names of members, and orders the rows by them.
func (e *Engine) nameMembers(ctx context.Context, rows []imagegen.Usage) (err error) {
	name := e.accounts.Names(ctx)
	for i := range rows {
		if rows[i].MemberName, err = name(rows[i].Member); err != nil {
			return err
		}
	}
	slices.SortStableFunc(rows, func(a, b imagegen.Usage) int {
		return cmp.Or(a.Day.Compare(b.Day), strings.Compare(a.Model, b.Model), cmp.Compare(a.Key, b.Key),
			strings.Compare(a.MemberName, b.MemberName))
	})
	return nil
}
