package frame

import (
	"slices"
	"strconv"

	"github.com/imagegend/imagegend/imagegen"
)

// Pager is the links through a list, for the template "pager": to the first page, unless this is it, and to the next
// one, if there is any. A list has cursors instead of numbers of pages, so new items do not shift the pages.
type Pager struct{ First, Next string }

// Pager returns the links of a page whose cursor is the query parameter name. next is the cursor of the next page;
// "": this is the last.
func (p *Page) Pager(name, next string) (links Pager) {
	if p.Query().Get(name) != "" {
		links.First = p.Here(name, "")
	}
	if next != "" {
		links.Next = p.Here(name, next)
	}
	return links
}

// At makes the links lead to an element of the page instead of its top.
func (l Pager) At(id string) Pager {
	for _, address := range []*string{&l.First, &l.Next} {
		if *address != "" {
			*address += "#" + id
		}
	}
	return l
}

// PagerBefore is Pager for a list whose cursor is the number of an entry or of a row; next is 0 if there are no more.
func (p *Page) PagerBefore(next uint64) Pager {
	cursor := ""
	if next > 0 {
		cursor = strconv.FormatUint(next, 10)
	}
	return p.Pager("before", cursor)
}

// Before is the cursor of such a list in the address of the page; 0 means from the newest.
func (p *Page) Before() (uint64, error) {
	s := p.Query().Get("before")
	if s == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, imagegen.Invalid("the address of this page is wrong: before must be a number")
	}
	return n, nil
}

// Filter is a link to another view of a list.
type Filter struct {
	Label   string
	Address string
	Current bool
}

// periods are the numbers of days that a chart can show. The first is the default.
var periods = []int{30, 90, 365}

// Days is how many days of a chart the address asks for; anything but one of periods counts as the first of them.
func (p *Page) Days() int {
	n, _ := strconv.Atoi(p.Query().Get("days"))
	if !slices.Contains(periods, n) {
		n = periods[0]
	}
	return n
}

// Periods are links to the same page with another number of days.
func (p *Page) Periods() (all []Filter) {
	for _, n := range periods {
		days := strconv.Itoa(n)
		all = append(all, Filter{days + " days", p.Here("days", days), n == p.Days()})
	}
	return all
}

// LatestUsage returns what was charged to a user on the latest days, today included; q says for whom, and how it is
// summed up.
func (p *Page) LatestUsage(u imagegen.UserID, days int, q imagegen.UsageQuery) ([]imagegen.Usage, error) {
	to, err := p.Ledger.Today(p.Context(), u)
	if err != nil {
		return nil, err
	}
	q.From, q.To = to.AddDate(0, 0, 1-days), to
	return p.Ledger.Usage(p.Context(), u, q)
}

// LotsShown is how many lots a page lists: those that are spent first. There may be thousands.
const LotsShown = 50
