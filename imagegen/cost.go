package imagegen

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Micros is an amount in millionths: of the operator's currency, or of a unit that an upstream charges for.
type Micros int64

// decimals matches what ParseMicros reads: at most twelve digits, and six behind the point.
var decimals = regexp.MustCompile(`^[0-9]{1,12}(\.[0-9]{1,6})?$`)

// ParseMicros reads a decimal number without a sign, such as 0.04, exactly. ErrInvalidRequest: it is another text, or
// has more than twelve digits before the point or six behind it.
func ParseMicros(s string) (Micros, error) {
	if !decimals.MatchString(s) {
		return 0, Invalid("an amount is a decimal number with at most six decimals, such as 0.04; got %.40q", s)
	}
	whole, part, _ := strings.Cut(s, ".")
	n, err := strconv.ParseInt(whole+(part + "000000")[:6], 10, 64)
	return Micros(n), err
}

// String returns the decimal number, with at least two decimals.
func (m Micros) String() string {
	sign := ""
	if m < 0 {
		sign, m = "-", -m
	}
	s := fmt.Sprintf("%d.%06d", m/1_000_000, m%1_000_000)
	for range 4 {
		s = strings.TrimSuffix(s, "0")
	}
	return sign + s
}

// UpstreamUsage is what an upstream says that its work has used. What it does not say is zero.
type UpstreamUsage struct {
	// Tokens. An upstream that does not divide them has all of its input in TextInput, and all of its output in
	// ImageOutput.
	TextInput, ImageInput, TextOutput, ImageOutput int64

	Units Micros        // what the upstream counts its price in, such as megapixels or credits of its own
	Time  time.Duration // of its machines

	// Surplus is how many images it sent that the provider does not yield, such as those beyond what was asked for.
	Surplus int64
}

// Plus returns the sum of u and o, field by field.
func (u UpstreamUsage) Plus(o UpstreamUsage) UpstreamUsage {
	return UpstreamUsage{u.TextInput + o.TextInput, u.ImageInput + o.ImageInput, u.TextOutput + o.TextOutput,
		u.ImageOutput + o.ImageOutput, u.Units + o.Units, u.Time + o.Time, u.Surplus + o.Surplus}
}

// AttemptCost is what one attempt at a generation cost the operator upstream. Callers never see it.
type AttemptCost struct {
	Attempt  int
	Provider string        // its Name
	Images   int           // that came, a surplus and those that could not be used included
	Usage    UpstreamUsage // as the upstream reported it
	Cost     Micros        // in the operator's currency; 0 if it is not Known
	Reason   CostReason
}

// CostReason says how a cost is known, or why it is not.
type CostReason string

// The reasons. With the first three the cost is known.
const (
	CostReported    CostReason = "reported"     // from the upstream's own figures
	CostByImage     CostReason = "by image"     // the price of an image, times those that came
	CostNothingMade CostReason = "nothing made" // the upstream refused before it worked: 0
	CostNoFigure    CostReason = "no figure"    // the answer was not whole, or there is no price for what it reported
	CostInterrupted CostReason = "interrupted"  // the process that made the attempt was killed
)

// Known reports whether it is known what the attempt cost.
func (c AttemptCost) Known() bool {
	return c.Reason == CostReported || c.Reason == CostByImage || c.Reason == CostNothingMade
}

// addCost adds what the current attempt cost, once. c may be nil: nothing is known of an attempt.
func (r *Record) addCost(c *AttemptCost) {
	if c == nil || slices.ContainsFunc(r.Costs, func(o AttemptCost) bool { return o.Attempt == r.Attempt }) {
		return
	}
	added := *c
	added.Attempt = r.Attempt
	r.Costs = append(slices.Clip(r.Costs), added)
}

// addInterrupted adds that the cost of an attempt is unknown whose process was killed. An upstream's job that another
// attempt resumes has its cost there. A recovery that was killed itself called no upstream: it only carries on the
// number of the attempt, by which the next recovery knows that.
func (r *Record) addInterrupted() {
	last := len(r.Costs) - 1
	switch {
	case r.State != StateProcessing || len(r.Job) > 0:
	case last >= 0 && r.Costs[last].Reason == CostInterrupted && r.Costs[last].Attempt == r.Attempt-1:
		r.Costs = slices.Clone(r.Costs)
		r.Costs[last].Attempt = r.Attempt
	default:
		r.addCost(&AttemptCost{Reason: CostInterrupted})
	}
}

// costs reports whether the costs can be those of the record's attempts.
func (r Record) costs() bool {
	last := 0
	for _, c := range r.Costs {
		if c.Attempt <= last || c.Attempt > r.Attempt || c.Cost < 0 || c.Cost > 0 && !c.Known() || c.Images < 0 {
			return false
		}
		last = c.Attempt
	}
	return true
}

// Totals are sums over generations, for operators.
type Totals struct {
	Generations int     // that have ended
	Images      int     // that were delivered
	Spent       Credits // what callers paid for them
	Attempts    int     // that have ended
	Unknown     int     // attempts of which it is not known what they cost
	Cost        Micros  // of all other attempts, in the operator's currency
}

// Plus returns the sum of t and o, field by field.
func (t Totals) Plus(o Totals) Totals {
	return Totals{t.Generations + o.Generations, t.Images + o.Images, t.Spent + o.Spent, t.Attempts + o.Attempts,
		t.Unknown + o.Unknown, t.Cost + o.Cost}
}

// Minus returns the difference of t and o, field by field.
func (t Totals) Minus(o Totals) Totals {
	return t.Plus(Totals{-o.Generations, -o.Images, -o.Spent, -o.Attempts, -o.Unknown, -o.Cost})
}

// Earned returns what was spent on the generations, where a credit is worth so much, and what is left of that once the
// known costs are paid.
func (t Totals) Earned(credit Micros) (revenue, margin Micros) {
	revenue = Micros(t.Spent) * credit
	return revenue, revenue - t.Cost
}

// TotalsKey names what a generation counts for.
type TotalsKey struct {
	Day   time.Time // midnight, in UTC, of the day on which it was accepted; zero: all days
	Model string    // "": all models
	Payer UserID    // whose credits were spent: the user, or its sponsor; "": all
	User  UserID    // "": all users
	Key   KeyID     // "": all keys; if grouped by key: generations without a key
}

// TotalsKey returns what the generation counts for.
func (r Record) TotalsKey() TotalsKey {
	return TotalsKey{Day: UsageDay(r.CreatedAt), Model: r.Model, Payer: r.Account(), User: r.User, Key: r.KeyID}
}

// Totals returns what the generation counts for so far. What was spent on a generation in dispute counts once that is
// resolved.
func (r Record) Totals() (t Totals) {
	for _, c := range r.Costs {
		t.Attempts++
		t.Cost += c.Cost
		if !c.Known() {
			t.Unknown++
		}
	}
	if !r.Unsettled() && r.State != StateGone && r.Dispute == "" {
		t.Generations, t.Images, t.Spent = 1, r.Published, r.Used()
	}
	return t
}

// TotalsRow is one row of an answer about totals.
type TotalsRow struct {
	TotalsKey
	Totals
}

// Further properties by which totals can be grouped.
const (
	UsageByUser  UsageGroup = "user"
	UsageByPayer UsageGroup = "payer" // whose credits were spent: the user's own, or its sponsor's
)

// TotalsKeeper is an optional part of a [Store]: it sums up the generations of all users, in the commits that change
// them.
type TotalsKeeper interface {
	// EachTotals calls f with the totals of the days from one to another, both included, for each day, model,
	// payer, user and key, in no order. f must be quick, and must not call the Store. The cost grows with the number of
	// users, models and keys of each day.
	EachTotals(ctx context.Context, from, to time.Time, f func(TotalsRow)) error
	// Currency returns the code of the currency that all costs are in. It notes the code that is passed, if none is
	// noted yet or if replace is true, which only somebody does who knows of no cost.
	Currency(ctx context.Context, code string, replace bool) (string, error)
}

// TotalsWithDefaults is WithDefaults for a query of totals.
func (q UsageQuery) TotalsWithDefaults(now time.Time) (UsageQuery, error) {
	return q.withDefaults(now, []UsageGroup{UsageByDay, UsageByModel, UsageByKey, UsageByUser, UsageByPayer})
}

// SumTotals groups totals by q.By, which can contain UsageByUser and UsageByPayer, in the order of day, model, payer,
// user and key. q is one of TotalsWithDefaults; each is EachTotals of a TotalsKeeper. ErrInvalidRequest: there would be
// more than MaxUsageRows.
func (q UsageQuery) SumTotals(ctx context.Context,
	each func(ctx context.Context, from, to time.Time, f func(TotalsRow)) error) ([]TotalsRow, error) {
	groups := make(map[TotalsKey]Totals)
	err := each(ctx, q.From, q.To, func(r TotalsRow) {
		of := q.group(r.TotalsKey)
		groups[of] = groups[of].Plus(r.Totals)
	})
	if err != nil {
		return nil, err
	}
	if len(groups) > MaxUsageRows {
		return nil, Invalid("there are more than %d rows; ask for fewer days, or group by less", MaxUsageRows)
	}
	all := make([]TotalsRow, 0, len(groups))
	for key, t := range groups {
		all = append(all, TotalsRow{key, t})
	}
	slices.SortFunc(all, func(a, b TotalsRow) int {
		return cmp.Or(a.Day.Compare(b.Day), strings.Compare(a.Model, b.Model), cmp.Compare(a.Payer, b.Payer),
			cmp.Compare(a.User, b.User), cmp.Compare(a.Key, b.Key))
	})
	return all, nil
}

// group leaves of a key what q groups by.
func (q UsageQuery) group(k TotalsKey) (of TotalsKey) {
	for _, by := range q.By {
		switch by {
		case UsageByDay:
			of.Day = k.Day
		case UsageByModel:
			of.Model = k.Model
		case UsageByPayer:
			of.Payer = k.Payer
		case UsageByUser:
			of.User = k.User
		case UsageByKey:
			of.Key = k.Key
		}
	}
	return of
}
