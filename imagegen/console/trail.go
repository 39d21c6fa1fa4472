package console

import (
	"context"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// trailPage is how many rows of the audit trail a page lists.
const trailPage = 50

// trailView is the data of trail.html.
type trailView struct {
	Form   *form // the filter
	Kinds  []option
	Narrow bool // the filter is set
	Lines  []trailLine
	Pager  pager
}

// trailLine is a row of the audit trail.
type trailLine struct {
	account.TrailRow
	Owner string // the name of the user whom the act concerns; "": none, or not known here
}

// kinds are the acts to choose from. A value without a point stands for all acts that begin with it, such as
// user.create.
var kinds = []option{{"", "All"}, {"user", "Users and sign-ins"}, {string(account.ActSignInFailed), "Failed sign-ins"}, {"key", "API keys"}, {"credit", "Credits"},
	{"generation", "Generations"}, {"data", "Audits and backups"}, {"serve", "Starts and stops"}, {"clock", "Clock"}}

// trail lists the audit trail, newest first. Without an account.TrailStore there is no such page.
func (c *Console) trail(p *page) error {
	trail := c.cfg.Engine.Trail()
	if trail == nil {
		return imagegen.ErrNotFound
	}
	q := p.r.URL.Query()
	v := trailView{Form: filled("actor", q.Get("actor"), "act", q.Get("act"), "target", q.Get("target"), "since", q.Get("since")), Kinds: kinds}
	query, err := c.trailQuery(p, v.Form)
	if err != nil {
		return err
	}
	v.Narrow = query.Actor != "" || query.Act != "" || query.Target != "" || !query.Since.IsZero()
	found, err := findRows(p.context(), trail, query)
	if err != nil {
		return err
	}
	for _, r := range found.Rows {
		v.Lines = append(v.Lines, trailLine{r, c.nameOf(p.context(), r.User)})
	}
	v.Pager = p.pager("before", toCursor(found.Next))
	return p.render("trail", v)
}

// trailQuery returns what the form asks for. A target that is a user's name stands for the user's identifier. A day
// that cannot be read is ignored.
func (c *Console) trailQuery(p *page, f *form) (account.TrailQuery, error) {
	before, err := cursor(p.r.URL.Query().Get("before"))
	q := account.TrailQuery{Actor: f.Value("actor"), Act: f.Value("act"), Target: f.Value("target"), Before: before, Limit: trailPage}
	// A name that is nobody's, and an error, leave the target as it was entered.
	if u, err := c.cfg.Engine.Accounts().UserByName(p.context(), q.Target); err == nil {
		q.Target = string(u.ID)
	}
	if since, err := time.Parse(time.DateOnly, f.Value("since")); err == nil {
		q.Since = since
	}
	return q, err
}

// findRows returns a page that has rows, unless there are no more. A store may answer with an empty page after it has
// looked at many rows that do not match; then findRows goes on.
func findRows(ctx context.Context, trail account.TrailStore, q account.TrailQuery) (account.TrailPage, error) {
	for {
		found, err := trail.Trail(ctx, q)
		if err != nil || len(found.Rows) > 0 || found.Next == 0 {
			return found, err
		}
		q.Before = found.Next
	}
}

// nameOf returns a user's name; "" if the user is not known, or cannot be read: a name is not worth an error.
func (c *Console) nameOf(ctx context.Context, u imagegen.UserID) string {
	if u == "" {
		return ""
	}
	found, _ := c.cfg.Engine.Accounts().User(ctx, u)
	return found.Name
}

// Thing is the target of the act, unless that is the user.
func (l trailLine) Thing() string {
	if l.Target == string(l.User) {
		return ""
	}
	return l.Target
}
