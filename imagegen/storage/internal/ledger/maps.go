package ledger

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/clock"
)

// memory is the rows of a ledger in maps. Memory makes a store of it, and Check replays journals into it. It is not
// safe for concurrent use.
type memory struct {
	pages   map[imagegen.UserID]*page
	charges map[imagegen.ChargeID]*Charge
	refs    map[string]Place
	clock   clock.Mark
}

var _ Rows = (*memoryTx)(nil)

func newMemory() *memory {
	return &memory{pages: make(map[imagegen.UserID]*page), charges: make(map[imagegen.ChargeID]*Charge),
		refs: make(map[string]Place)}
}

// page is everything of one user. The orders hold numbers, not lots, so that a lot is in one place.
type page struct {
	account  Account
	lots     []Lot    // by number
	toSpend  []uint64 // numbers of the spendable lots, in order
	toExpire []uint64 // of those that expire, in order
	usage    map[UsageKey]imagegen.UsageSums
	keys     map[imagegen.KeyID]KeyTotal
	journal  []Entry // by sequence
}

// page returns a user's page; if there is none yet, an empty one that is not kept.
func (m *memory) page(u imagegen.UserID) *page {
	if p := m.pages[u]; p != nil {
		return p
	}
	return &page{account: Account{User: u}, usage: make(map[UsageKey]imagegen.UsageSums),
		keys: make(map[imagegen.KeyID]KeyTotal)}
}

func (m *memory) Account(u imagegen.UserID) Account { return m.page(u).account }

func (m *memory) Lot(u imagegen.UserID, number uint64) (l Lot, known bool) {
	return nth(m.page(u).lots, number)
}

func (m *memory) Entry(p Place) (e Entry, known bool) { return nth(m.page(p.User).journal, p.Seq) }

// nth returns the nth element, counted from 1; known is false if there is none.
func nth[T any](all []T, n uint64) (v T, known bool) {
	if n == 0 || n > uint64(len(all)) {
		return v, false
	}
	return all[n-1], true
}

func (m *memory) Lots(u imagegen.UserID) iter.Seq[Lot] { return slices.Values(m.page(u).lots) }

func (m *memory) Spendable(u imagegen.UserID) iter.Seq[Lot] {
	p := m.page(u)
	return p.each(p.toSpend)
}

func (m *memory) Expiring(u imagegen.UserID) iter.Seq[Lot] {
	p := m.page(u)
	return p.each(p.toExpire)
}

// each yields the lots with these numbers, in that order.
func (p *page) each(numbers []uint64) iter.Seq[Lot] {
	return func(yield func(Lot) bool) {
		for _, n := range numbers {
			if !yield(p.lots[n-1]) {
				return
			}
		}
	}
}

// Due implements Tx. It looks at all users; a database has an index for this.
func (m *memory) Due(at time.Time) iter.Seq[imagegen.UserID] {
	return func(yield func(imagegen.UserID) bool) {
		for u := range m.Users() {
			if next := m.page(u).account.Next.At; !next.IsZero() && !next.After(at) && !yield(u) {
				return
			}
		}
	}
}

func (m *memory) Charge(id imagegen.ChargeID) (c Charge, known bool) {
	if c := m.charges[id]; c != nil {
		return *c, true
	}
	return c, false
}

func (m *memory) Ref(ref string) (p Place, known bool) {
	p, known = m.refs[ref]
	return p, known
}

func (m *memory) Usage(u imagegen.UserID, from, to time.Time) iter.Seq[Usage] {
	return func(yield func(Usage) bool) {
		for key, sums := range m.page(u).usage {
			if !key.Day.Before(from) && key.Day.Before(to) && !yield(Usage{key, sums}) {
				return
			}
		}
	}
}

// DayUsage implements Tx. It looks at all rows of all users.
func (m *memory) DayUsage(day time.Time) iter.Seq[Usage] {
	return func(yield func(Usage) bool) {
		for u := range m.pages {
			for row := range m.Usage(u, day, day.AddDate(0, 0, 1)) {
				if !yield(row) {
					return
				}
			}
		}
	}
}

func (m *memory) KeyUsage(u imagegen.UserID, k imagegen.KeyID, from, to time.Time) iter.Seq[Usage] {
	return func(yield func(Usage) bool) {
		for row := range m.Usage(u, from, to) {
			if row.Key == k && !yield(row) {
				return
			}
		}
	}
}

func (m *memory) UsageRow(k UsageKey) Usage { return Usage{k, m.page(k.User).usage[k]} }

func (m *memory) KeyTotal(u imagegen.UserID, k imagegen.KeyID) KeyTotal {
	return cmp.Or(m.page(u).keys[k], KeyTotal{User: u, Key: k})
}

func (m *memory) KeyTotals(u imagegen.UserID) iter.Seq[KeyTotal] { return maps.Values(m.page(u).keys) }

func (m *memory) Clock() clock.Mark { return m.clock }

func (m *memory) Users() iter.Seq[imagegen.UserID] {
	return slices.Values(slices.Sorted(maps.Keys(m.pages)))
}

func (m *memory) Journal(u imagegen.UserID) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for _, e := range m.page(u).journal {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (m *memory) Charges() iter.Seq[imagegen.ChargeID] { return maps.Keys(m.charges) }

func (m *memory) Refs() iter.Seq[string] { return maps.Keys(m.refs) }

// Write implements Tx.
func (m *memory) Write(c *Change) {
	m.put(c)
	p := m.pages[c.Entry.User]
	p.journal = append(p.journal, c.Entry)
	if c.Entry.Ref != "" {
		m.refs[c.Entry.Ref] = c.Entry.place()
	}
}

// put writes the rows that an entry leads to, without the entry itself, which a replay need not keep.
func (m *memory) put(c *Change) {
	p := m.page(c.Entry.User)
	m.pages[c.Entry.User] = p
	p.account = c.To
	for _, l := range c.Lots {
		p.put(l.To)
	}
	for _, u := range c.Usage {
		p.usage[u.To.UsageKey] = u.To.UsageSums
	}
	for _, k := range c.Keys {
		p.keys[k.To.Key] = k.To
	}
	if c.Charge != nil {
		m.charges[c.Entry.Charge] = c.Charge
	}
}

// put replaces or adds a lot, and moves it into or out of the two orders when its credits
// run out or come back. Nothing that an order depends on changes in a lot's life.
func (p *page) put(l Lot) {
	if l.Number > uint64(len(p.lots)) {
		p.lots = append(p.lots, Lot{})
	}
	was := p.lots[l.Number-1].Remaining > 0
	p.lots[l.Number-1] = l
	if is := l.Remaining > 0; is == was {
		return
	}
	p.toSpend = p.toggle(p.toSpend, l, Lot.Compare)
	if !l.Expires.IsZero() {
		p.toExpire = p.toggle(p.toExpire, l, Lot.CompareExpiry)
	}
}

// toggle removes a lot from an ordered list, or inserts it if the list does not have it.
func (p *page) toggle(list []uint64, l Lot, compare func(a, b Lot) int) []uint64 {
	at, there := slices.BinarySearchFunc(list, l, func(n uint64, l Lot) int { return compare(p.lots[n-1], l) })
	if there {
		return slices.Delete(list, at, at+1)
	}
	return slices.Insert(list, at, l.Number)
}

// clone returns a copy of a page whose changes the original does not see. The journal is shared: it only grows, and
// the original keeps its length.
func (p *page) clone() *page {
	c := *p
	c.lots, c.toSpend, c.toExpire = slices.Clone(p.lots), slices.Clone(p.toSpend), slices.Clone(p.toExpire)
	c.usage, c.keys = maps.Clone(p.usage), maps.Clone(p.keys)
	return &c
}
