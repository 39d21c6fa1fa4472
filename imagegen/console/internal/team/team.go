// Package team has the pages on which a sponsor looks after its members, the users for whom it pays. They show what
// members used, and neither prompts nor images.
package team

import (
	"embed"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/form"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
	"github.com/imagegend/imagegend/imagegen/console/internal/limits"
)

//go:embed templates
var sources embed.FS

// Templates are those of the pages.
var Templates = frame.Templates{Files: sources}

// ForSponsors answers a member that there is no such page: somebody for whom another user pays has no members.
func ForSponsors(h frame.Handler) frame.Handler {
	return func(p *frame.Page) error {
		if p.Person.Sponsor != "" {
			return imagegen.ErrNotFound
		}
		return h(p)
	}
}

// WithMember returns a handler that finds the member of the person whom the path names, for another. ErrNotFound: there
// is none, or another user pays for it.
func WithMember(h func(p *frame.Page, m imagegen.User) error) frame.Handler {
	return frame.WithUser(func(p *frame.Page, u imagegen.User) error {
		if u.Sponsor != p.Person.ID {
			return imagegen.ErrNotFound
		}
		return h(p, u)
	})
}

// membersPerPage is how many members a page lists.
const membersPerPage = 50

// teamView is the data of team.html.
type teamView struct {
	Balance imagegen.Balance
	imagegen.Holdings
	Today       imagegen.Credits // charged minus refunded, to the sponsor and for its members
	Month       imagegen.Credits
	Form        *form.Form // the search
	Lines       []line
	Pager       frame.Pager
	SponsorName string
}

// line is a member in the list.
type line struct {
	imagegen.User
	Used imagegen.KeyUse
}

// Limited describes the member's limits in words; "" if there are none.
func (l line) Limited() string { return limits.Text(l.Limits) }

// Team lists the person's members by name, or those whose name contains what is searched for.
func Team(p *frame.Page) (err error) {
	q := p.Query()
	v := teamView{Form: form.Filled("q", q.Get("q")), SponsorName: p.Person.Name}
	if v.Balance, err = p.Service().Balance(p.Context()); err != nil {
		return err
	}
	if v.Holdings, err = p.Ledger.Holdings(p.Context(), p.Person.ID, 1); err != nil {
		return err
	}
	if v.Today, v.Month, err = used(p); err != nil {
		return err
	}
	found, err := p.FindUsers(imagegen.UserQuery{Limit: membersPerPage, After: q.Get("after"),
		Contains: v.Form.Value("q"), Sponsor: p.Person.ID})
	if err != nil {
		return err
	}
	for _, u := range found.Users {
		use, err := p.Ledger.MemberUse(p.Context(), p.Person.ID, u.ID)
		if err != nil {
			return err
		}
		v.Lines = append(v.Lines, line{u, use})
	}
	v.Pager = p.Pager("after", found.Next)
	return p.Render("team", v)
}

// used is what was charged to the person, minus refunds, for everybody: today and this month, in UTC.
func used(p *frame.Page) (today, month imagegen.Credits, err error) {
	to, err := p.Ledger.Today(p.Context(), p.Person.ID)
	if err != nil {
		return 0, 0, err
	}
	from := time.Date(to.Year(), to.Month(), 1, 0, 0, 0, 0, time.UTC)
	days, err := p.Ledger.Usage(p.Context(), p.Person.ID,
		imagegen.UsageQuery{From: from, To: to, By: []imagegen.UsageGroup{imagegen.UsageByDay}})
	for _, d := range days {
		if month += d.Charged - d.Refunded; d.Day.Equal(to) {
			today = d.Charged - d.Refunded
		}
	}
	return today, month, err
}
