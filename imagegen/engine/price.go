package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/internal/hostcall"
)

// Order is what a price is asked for.
type Order struct {
	User        imagegen.UserID // "": somebody without an API key, who lists the models
	AccountType string          // of the user
	Model       string
	Tier        imagegen.Tier
	Ratio       imagegen.Ratio
	Size        imagegen.Size    // as asked for; zero: auto
	Effort      imagegen.Quality // that is asked of the provider
	N           int
	References  int // without the mask
	Mask        bool
	Options     imagegen.Options
}

// order is what the price of a record is asked for.
func order(r imagegen.Record, files attached, accountType string) Order {
	return Order{User: r.User, AccountType: accountType, Model: r.Model, Tier: r.Tier, Ratio: r.Ratio, Size: r.Size,
		Effort: r.Effort, N: r.N, References: files.references, Mask: files.mask, Options: r.Options.Clone()}
}

// priced is the price of one image, and how much of it each reference image makes; 0: it is not known.
type priced struct{ image, reference imagegen.Credits }

// priceLimit is how long Model.Price may take.
const priceLimit = time.Second

// price returns what one image of an order costs. Everything that has a price asks here: charges, quotes, and the
// models as a user sees them. ErrInvalidRequest: no line of the model's prices fits.
func (e *Engine) price(ctx context.Context, m catalogEntry, o Order) (priced, error) {
	if m.Price == nil {
		if p, ok := listPrice(m.prices, m.ReferenceCredits, o); ok {
			return p, nil
		}
		return priced{}, imagegen.InvalidField("quality", "model %.40q has no price for quality %s in tier %s; ask for another quality",
			o.Model, o.Effort, o.Tier)
	}
	credits, err := m.callPrice(ctx, o)
	if _, answer := errors.AsType[*imagegen.Error](err); answer || err != nil && ctx.Err() != nil {
		return priced{}, err
	}
	if _, invalid := credits.Times(max(o.N, 1)); err == nil && invalid != nil {
		err = fmt.Errorf("it returned %d credits for one of %d images", credits, o.N)
	}
	if err != nil {
		err = fmt.Errorf("imagegen: Model.Price of model %q: %w", o.Model, err)
		e.cfg.Log.Error("a price could not be had; the request is refused", "model", o.Model, "error", err)
		return priced{}, imagegen.Internal(err)
	}
	return priced{image: credits}, nil
}

// callPrice calls Model.Price within priceLimit, on a goroutine of its own, since the function may hang. As long as a
// call of the model has not returned within that time, it makes no other one, so that no more goroutines gather.
func (m catalogEntry) callPrice(ctx context.Context, o Order) (imagegen.Credits, error) {
	if m.hung.Load() > 0 {
		return 0, fmt.Errorf("an earlier call has not returned within %v", priceLimit)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, priceLimit, fmt.Errorf("it did not return within %v", priceLimit))
	defer cancel()
	late := time.AfterFunc(priceLimit, func() { m.hung.Add(1) })
	returned := func() {
		if !late.Stop() {
			m.hung.Add(-1)
		}
	}
	return hostcall.Await(ctx, returned, func(ctx context.Context) (imagegen.Credits, error) { return m.Price(ctx, o) })
}

// listPrice returns what the first line says that fits an order; ok reports whether one fits.
func listPrice(lines []imagegen.Price, reference imagegen.Credits, o Order) (p priced, ok bool) {
	i := fitting(lines, o)
	if i < 0 {
		return p, false
	}
	if own := lines[i].ReferenceCredits; own != nil {
		reference = *own
	}
	return priced{lines[i].Credits[o.Tier] + imagegen.Credits(o.References)*reference, reference}, true
}

// fitting returns the index of the first line that fits an order; -1 if none does.
func fitting(lines []imagegen.Price, o Order) int {
	return slices.IndexFunc(lines, func(l imagegen.Price) bool {
		_, priced := l.Credits[o.Tier]
		return priced && (l.Quality == "" || l.Quality == o.Effort) &&
			(l.AccountType == "" || l.AccountType == o.AccountType) && o.References >= l.References &&
			(o.Mask || !l.Mask)
	})
}

// priceCall fixes the price of a call. ErrInvalidRequest: it is more than the caller wants to pay.
func (c *call) priceCall(ctx context.Context) error {
	p, err := c.session.price(ctx, c.model, c.record, attached{len(c.request.References), c.request.Mask != nil})
	if err != nil {
		return err
	}
	c.record.Price = p.image
	if cost, most := c.record.Charge().Credits, c.request.MaxCredits; most > 0 && cost > most {
		return imagegen.InvalidField("max_credits",
			"this request costs %d credits, which is more than its max_credits of %d; nothing was charged", cost, most)
	}
	return nil
}

// price returns what one image of a request of the session costs. The account type is looked up only if the price can
// depend on it.
func (s *Session) price(ctx context.Context, m catalogEntry, r imagegen.Record, files attached) (p priced, err error) {
	accountType := ""
	if m.pricesVary() {
		u, err := s.lookedUp(ctx)
		if err != nil {
			return p, imagegen.ToUserError(err)
		}
		accountType = u.AccountType
	}
	return s.engine.price(ctx, m, order(r, files, accountType))
}

// pricesVary reports whether the price can depend on who asks.
func (m Model) pricesVary() bool {
	return m.Price != nil || slices.ContainsFunc(m.Prices, func(l imagegen.Price) bool { return l.AccountType != "" })
}

// pricedInfo is what the model offers to somebody: with the prices of requests that leave everything open, less what
// references add, and the lines that can fit that person.
func (e *Engine) pricedInfo(ctx context.Context, m catalogEntry, u imagegen.UserID,
	accountType string) (imagegen.ModelInfo, error) {
	info := clone(m.info)
	for _, t := range info.Tiers {
		o := m.plainest(t)
		o.User, o.AccountType = u, accountType
		p, err := e.price(ctx, m, o)
		if err != nil {
			return info, err
		}
		info.Credits[t] = p.image - imagegen.Credits(o.References)*p.reference
	}
	if m.Price != nil {
		return info, nil
	}
	info.ReferenceCredits = m.ReferenceCredits
	if len(m.Prices) == 0 {
		return info, nil
	}
	reached := make([]bool, len(m.prices))
	m.reach(reached, accountType)
	for i, l := range m.prices {
		if reached[i] {
			info.Prices = append(info.Prices, shownLine(l, info.Tiers))
		}
	}
	return info, nil
}

// shownLine is a line as a user sees it: with the tiers on offer, and without the account type, which is the user's.
func shownLine(l imagegen.Price, tiers []imagegen.Tier) imagegen.Price {
	if l.ReferenceCredits != nil {
		l.ReferenceCredits = new(*l.ReferenceCredits)
	}
	l.AccountType, l.Credits = "", maps.Clone(l.Credits)
	maps.DeleteFunc(l.Credits, func(t imagegen.Tier, _ imagegen.Credits) bool { return !slices.Contains(tiers, t) })
	return l
}
