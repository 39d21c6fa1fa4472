package operator

import (
	"errors"
	"slices"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/form"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
	"github.com/imagegend/imagegend/imagegen/console/internal/limits"
)

// SetSponsor has the user whom the form names pay for another, within limits.
func SetSponsor(p *frame.Page, u imagegen.User, f *form.Form) error {
	l := limits.Read(f, u.Limits)
	sponsor, err := p.Engine.Accounts().UserByName(p.Context(), f.Value("sponsor"))
	if errors.Is(err, imagegen.ErrNotFound) {
		f.AddFault("sponsor", "There is no user of this name.")
	} else if err != nil {
		return err
	}
	if f.Valid() {
		if err := f.AddError("sponsor", p.Engine.SetSponsor(p.Context(), u.ID, sponsor.ID, l)); err != nil {
			return err
		}
	}
	if !f.Valid() {
		return showUser(p, u, userForms{Sponsor: f})
	}
	done := sponsor.Name + " pays for " + u.Name
	if within := limits.Text(l); within != "" {
		done += ", within " + within
	}
	return p.RedirectWith(done+".", "users", string(u.ID))
}

// EndSponsorship has a user pay for itself again, from the next charge on.
func EndSponsorship(p *frame.Page, u imagegen.UserID) error {
	return p.Engine.SetSponsor(p.Context(), u, "", imagegen.KeyLimits{})
}

// teamsView is the data of teams.html.
type teamsView struct {
	Teams []teamLine
	Days  int // over which is summed up
	Pager frame.Pager
}

// teamLine is a sponsor with its members.
type teamLine struct {
	imagegen.User
	Members int
	Spent   imagegen.Credits // by the sponsor and its members
	Balance imagegen.Credits
}

// Teams lists the sponsors by name.
func Teams(p *frame.Page) error {
	all, err := p.Engine.Accounts().Users(p.Context())
	if err != nil {
		return err
	}
	v := teamsView{Days: p.Days()}
	var next string
	v.Teams, next = teamsAfter(all, p.Query().Get("after"))
	for i := range v.Teams {
		if err := v.Teams[i].sum(p, v.Days); err != nil {
			return err
		}
	}
	v.Pager = p.Pager("after", next)
	return p.Render("teams", v)
}

// teamsAfter returns a page of the sponsors whose names follow one, and the name after which the next page begins.
func teamsAfter(all []imagegen.User, after string) (teams []teamLine, next string) {
	members := map[imagegen.UserID]int{}
	for _, u := range all {
		members[u.Sponsor]++
	}
	slices.SortFunc(all, func(a, b imagegen.User) int { return strings.Compare(a.Name, b.Name) })
	for _, u := range all {
		switch n := members[u.ID]; {
		case n == 0 || u.Name <= after:
		case len(teams) == usersPerPage:
			return teams, teams[usersPerPage-1].Name
		default:
			teams = append(teams, teamLine{User: u, Members: n})
		}
	}
	return teams, ""
}

// sum reads what a team spent on the latest days, and what it has.
func (t *teamLine) sum(p *frame.Page, days int) error {
	rows, err := p.LatestUsage(t.ID, days, imagegen.UsageQuery{})
	if err != nil {
		return err
	}
	for _, r := range rows {
		t.Spent += r.Spent
	}
	b, err := p.Ledger.Balance(p.Context(), t.ID)
	t.Balance = b.Credits
	return err
}
