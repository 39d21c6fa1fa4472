package imagegen

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"time"
)

// Usage sums up charges of one day, one model and one API key. By a property that a [UsageQuery]
// does not group by, it sums up all charges.
type Usage struct {
	Day   time.Time // midnight, in UTC, of the day of the charges; zero: all days
	Model string    // "": all models
	Key   KeyID     // "": all keys; if grouped by key: charges without a key, made in process or in the console
	// Member is for whom the user paid. "": all members, and the user; if grouped by member: the user.
	Member UserID
	// MemberName is its name, which a Service fills in: it is all that one over HTTP knows of a member.
	MemberName string
	UsageSums
}

// UsageSums are sums over charges. The part of an open charge that is neither refunded
// nor spent is held: Charged - Refunded - Spent. Everything counts on the day of the
// charge, whenever it is settled.
type UsageSums struct {
	Charged     Credits // taken when the work was accepted
	Refunded    Credits // the part of Charged that was given back
	Spent       Credits // the part of Charged that was spent for good
	Images      int     // that were paid for
	Generations int     // that were charged
	Failed      int     // generations whose charge was settled to 0, except cancelled ones
	// generations that their owner cancelled; they count as Failed if the Ledger takes no part in the Store's commits
	Cancelled int
}

// Plus returns the sum of s and o, field by field.
func (s UsageSums) Plus(o UsageSums) UsageSums {
	return UsageSums{Charged: s.Charged + o.Charged, Refunded: s.Refunded + o.Refunded, Spent: s.Spent + o.Spent,
		Images: s.Images + o.Images, Generations: s.Generations + o.Generations, Failed: s.Failed + o.Failed,
		Cancelled: s.Cancelled + o.Cancelled}
}

// UsageGroup is a property by which usage can be grouped.
type UsageGroup string

// The properties by which usage can be grouped.
const (
	UsageByDay   UsageGroup = "day"
	UsageByModel UsageGroup = "model"
	UsageByKey   UsageGroup = "key"
	// UsageByMember is by those for whom the user paid, see User.Sponsor. It cannot be combined with UsageByKey.
	UsageByMember UsageGroup = "member"
)

// UsageGroups lists every UsageGroup.
func UsageGroups() []UsageGroup {
	return []UsageGroup{UsageByDay, UsageByModel, UsageByKey, UsageByMember}
}

// Limits on one answer about usage.
const (
	// MaxUsageDays is the maximum number of days of a UsageQuery.
	MaxUsageDays = 366
	// MaxUsageRows is the maximum number of rows of an answer.
	MaxUsageRows = 10_000
)

// UsageQuery asks for usage. The zero value is one row with the sums of the last 30 days.
type UsageQuery struct {
	// the first and the last day, both included, in UTC. To zero: today; From zero: 29 days before To
	From, To time.Time
	By       []UsageGroup // the properties to group by; empty: one row for everything
	Member   UserID       // only what the user paid for this member; "": everything
}

// UsageReport is the answer to a UsageQuery. It contains the query with From and To filled in.
type UsageReport struct {
	UsageQuery
	Rows []Usage // in the order of day, model, key and the name of the member
}

// WithDefaults returns q with From and To filled in, as midnights in UTC. ErrInvalidRequest: the
// range ends before it begins or is longer than MaxUsageDays, or By contains an unknown
// UsageGroup.
func (q UsageQuery) WithDefaults(now time.Time) (UsageQuery, error) {
	return q.withDefaults(now, UsageGroups())
}

// withDefaults is WithDefaults for a query that can be grouped by groups.
func (q UsageQuery) withDefaults(now time.Time, groups []UsageGroup) (UsageQuery, error) {
	if q.To.IsZero() {
		q.To = now
	}
	q.To = UsageDay(q.To)
	if q.From.IsZero() {
		q.From = q.To.AddDate(0, 0, -29)
	}
	q.From = UsageDay(q.From)
	switch {
	case q.To.Before(q.From):
		return q, Invalid("usage from %s to %s is not a range of days; from comes first", q.From.Format(time.DateOnly),
			q.To.Format(time.DateOnly))
	case q.To.Sub(q.From) >= MaxUsageDays*24*time.Hour:
		return q, Invalid("usage from %s to %s is of more than %d days; ask for fewer at a time",
			q.From.Format(time.DateOnly), q.To.Format(time.DateOnly), MaxUsageDays)
	}
	for _, by := range q.By {
		if !slices.Contains(groups, by) {
			return q, Invalid("usage can be grouped by %v; got %.40q", groups, by)
		}
	}
	if slices.Contains(q.By, UsageByKey) && (q.Member != "" || slices.Contains(q.By, UsageByMember)) {
		return q, Invalid("usage can be grouped by key or by member, and that of a member not by key")
	}
	return q, nil
}

// UsageDay returns midnight, in UTC, of the day of at; 1970-01-01 for an earlier time.
func UsageDay(at time.Time) time.Time {
	return time.Unix(max(0, at.UTC().Truncate(24*time.Hour).Unix()), 0).UTC()
}

// Sum groups rows by q.By, and orders them by day, model, key and member. It does not look at From and To. A charge for
// a member comes twice: in a row of its key, and in one of the member, which has no key. ErrInvalidRequest: there would
// be more than MaxUsageRows.
func (q UsageQuery) Sum(rows iter.Seq[Usage]) ([]Usage, error) {
	groups := make(map[Usage]UsageSums) // by the properties that are grouped by
	for r := range q.counted(rows) {
		sums := r.UsageSums
		r.UsageSums = UsageSums{}
		of := q.group(TotalsKey{Day: r.Day, Model: r.Model, Key: r.Key})
		r.Day, r.Model, r.Key = of.Day, of.Model, of.Key
		if groups[r] = groups[r].Plus(sums); len(groups) > MaxUsageRows {
			return nil, Invalid("the usage has more than %d rows; ask for fewer days, or group it by less",
				MaxUsageRows)
		}
	}
	all := make([]Usage, 0, len(groups))
	for r, sums := range groups {
		if r.UsageSums = sums; sums != (UsageSums{}) {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b Usage) int {
		return cmp.Or(a.Day.Compare(b.Day), strings.Compare(a.Model, b.Model), strings.Compare(string(a.Key),
			string(b.Key)), strings.Compare(string(a.Member), string(b.Member)))
	})
	return all, nil
}

// counted leaves of rows those that q sums up, so that each charge counts once. By member, what members used is taken
// from the rows of the keys: the user's own use is left there.
func (q UsageQuery) counted(rows iter.Seq[Usage]) iter.Seq[Usage] {
	byMember := slices.Contains(q.By, UsageByMember)
	return func(yield func(Usage) bool) {
		for r := range rows {
			switch {
			case q.Member != "":
				if r.Member != q.Member {
					continue
				}
			case r.Member != "" && !byMember:
				continue
			case r.Member != "":
				own := Usage{Day: r.Day, Model: r.Model, UsageSums: UsageSums{}.minus(r.UsageSums)}
				if !yield(own) {
					return
				}
			}
			if !byMember {
				r.Member = ""
			}
			if !yield(r) {
				return
			}
		}
	}
}

// minus returns the difference of s and o, field by field.
func (s UsageSums) minus(o UsageSums) UsageSums {
	return s.Plus(UsageSums{Charged: -o.Charged, Refunded: -o.Refunded, Spent: -o.Spent, Images: -o.Images,
		Generations: -o.Generations, Failed: -o.Failed, Cancelled: -o.Cancelled})
}
