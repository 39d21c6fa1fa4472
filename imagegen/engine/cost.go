package engine

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// Cost says what an upstream charges the operator. Amounts are in millionths of the operator's currency. What the
// upstream reports counts before Image: tokens, units and seconds that have a price here.
type Cost struct {
	// Image is the cost of one image, by tier, where no line of Images fits.
	Image map[imagegen.Tier]imagegen.Micros
	// Images are costs of one image under a condition: the first line that fits, and has an amount for the tier,
	// decides.
	Images []ImageCost

	PerMillion TokenCosts // of a million tokens
	Unit       imagegen.Micros
	Second     imagegen.Micros // of the upstream's machines
}

// ImageCost is one line of Cost.Images.
type ImageCost struct {
	Quality imagegen.Quality // the effort; "": any
	Image   map[imagegen.Tier]imagegen.Micros
}

// TokenCosts are the costs of a million tokens of each kind.
type TokenCosts struct{ TextInput, ImageInput, TextOutput, ImageOutput imagegen.Micros }

// maxCost bounds the amounts of a Cost: a million of the currency.
const maxCost = 1_000_000_000_000

// check returns an error if an amount is negative or absurd.
func (c Cost) check() error {
	amounts := []imagegen.Micros{c.PerMillion.TextInput, c.PerMillion.ImageInput, c.PerMillion.TextOutput,
		c.PerMillion.ImageOutput, c.Unit, c.Second}
	for _, line := range append(slices.Clone(c.Images), ImageCost{Image: c.Image}) {
		for tier, amount := range line.Image {
			if !slices.Contains(imagegen.Tiers(), tier) {
				return fmt.Errorf("Cost has an image of tier %q; the tiers are %v", tier, imagegen.Tiers())
			}
			amounts = append(amounts, amount)
		}
		if line.Quality != "" && !slices.Contains(imagegen.Qualities(), line.Quality) {
			return fmt.Errorf("Cost has a quality %q; there are %v", line.Quality, imagegen.Qualities())
		}
	}
	for _, amount := range amounts {
		if amount < 0 || amount > maxCost {
			return fmt.Errorf("Cost has an amount of %d millionths; they are from 0 to %d", amount, int64(maxCost))
		}
	}
	return nil
}

// ofUsage returns what usage costs; ok reports whether anything of it has a price, and, if tokens have, all kinds of
// tokens that were reported.
func (c Cost) ofUsage(u imagegen.UpstreamUsage) (cost imagegen.Micros, ok bool) {
	sum, t := new(big.Int), c.PerMillion
	if t != (TokenCosts{}) && (u.TextInput > 0 && t.TextInput == 0 || u.ImageInput > 0 && t.ImageInput == 0 ||
		u.TextOutput > 0 && t.TextOutput == 0 || u.ImageOutput > 0 && t.ImageOutput == 0) {
		return 0, false
	}
	add := func(amount int64, price imagegen.Micros, per int64) {
		if amount > 0 && price > 0 {
			ok = true
			product := new(big.Int).Mul(big.NewInt(amount), big.NewInt(int64(price)))
			sum.Add(sum, product.Mul(product, big.NewInt(int64(time.Second)/per)))
		}
	}
	const million = 1_000_000
	add(u.TextInput, c.PerMillion.TextInput, million)
	add(u.ImageInput, c.PerMillion.ImageInput, million)
	add(u.TextOutput, c.PerMillion.TextOutput, million)
	add(u.ImageOutput, c.PerMillion.ImageOutput, million)
	add(int64(u.Units), c.Unit, million)
	add(int64(u.Time), c.Second, int64(time.Second))
	half := big.NewInt(int64(time.Second) / 2) // each product is in units of a millionth by a second
	sum.Div(sum.Add(sum, half), big.NewInt(int64(time.Second)))
	if !sum.IsInt64() || sum.Int64() > maxCost {
		return 0, false
	}
	return imagegen.Micros(sum.Int64()), ok
}

// ofImage returns what one image costs; ok reports whether it has a price.
func (c Cost) ofImage(tier imagegen.Tier, effort imagegen.Quality) (cost imagegen.Micros, ok bool) {
	for _, line := range c.Images {
		if cost, ok = line.Image[tier]; ok && (line.Quality == "" || line.Quality == effort) {
			return cost, true
		}
	}
	cost, ok = c.Image[tier]
	return cost, ok
}

// consumption is what an attempt has used upstream so far. It is safe for concurrent use.
type consumption struct {
	mu     sync.Mutex
	usage  imagegen.UpstreamUsage
	images int // that came
}

func (c *consumption) used(u imagegen.UpstreamUsage) {
	if min(u.TextInput, u.ImageInput, u.TextOutput, u.ImageOutput, int64(u.Units), int64(u.Time),
		u.Surplus) < 0 {
		return // a provider's mistake
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.usage = c.usage.Plus(u)
}

func (c *consumption) cameImage() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.images++
}

// cost is what an attempt at r cost that ended with err.
func (c *consumption) cost(m catalogEntry, r imagegen.Record, err error) *imagegen.AttemptCost {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := &imagegen.AttemptCost{Provider: m.info.Provider, Images: c.images + int(c.usage.Surplus), Usage: c.usage}
	image, priced := m.Cost.ofImage(r.Tier, r.Effort)
	cost, reported := m.Cost.ofUsage(c.usage)
	p, failed := errors.AsType[*imagegen.ProviderError](err)
	answered := failed && p.Class != imagegen.ClassUnknown // else a part of what was used may not have been reported
	switch whole := err == nil || c.images >= r.N; {
	case reported && (whole || answered):
		a.Cost, a.Reason = cost, imagegen.CostReported
	case madeNothing(err) && c.images == 0 && c.usage == (imagegen.UpstreamUsage{}):
		a.Reason = imagegen.CostNothingMade
	case priced && whole:
		a.Cost, a.Reason = image*imagegen.Micros(a.Images), imagegen.CostByImage
	default:
		a.Reason = imagegen.CostNoFigure
	}
	return a
}

// madeNothing reports whether an error says that the upstream refused before it worked. ClassRefused does not: some
// upstreams moderate what they have made.
func madeNothing(err error) bool {
	p, ok := errors.AsType[*imagegen.ProviderError](err)
	return ok && (p.Class.AllowsFailover() || p.Class == imagegen.ClassInvalid)
}

// EachTotals calls f as [imagegen.TotalsKeeper] says. ErrNotFound: the Store is none.
func (e *Engine) EachTotals(ctx context.Context, from, to time.Time, f func(imagegen.TotalsRow)) error {
	k, ok := e.store.(imagegen.TotalsKeeper)
	if !ok {
		return &imagegen.Error{Code: imagegen.CodeNotFound, Message: "this service does not sum up generations"}
	}
	return imagegen.ToUserError(k.EachTotals(ctx, from, to, f))
}

// Totals returns what the generations of all users count for, by day, model, payer, user and key as q says: for
// operators. ErrInvalidRequest: see UsageQuery.TotalsWithDefaults, or there would be more than MaxUsageRows.
// ErrNotFound: as for EachTotals.
func (e *Engine) Totals(ctx context.Context, q imagegen.UsageQuery) ([]imagegen.TotalsRow, error) {
	q, err := q.TotalsWithDefaults(e.cfg.Now())
	if err != nil {
		return nil, err
	}
	return q.SumTotals(ctx, e.EachTotals)
}
