package operator

import (
	"context"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console/internal/form"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
)

// trailPage is how many rows of the audit trail a page lists.
const trailPage = 50

// trailView is the data of trail.html.
type trailView struct {
	Form   *form.Form // the filter
	Kinds  []form.Option
	Narrow bool // the filter is set
	Lines  []trailLine
	Pager  frame.Pager
}

// trailLine is a row of the audit trail.
type trailLine struct {
	account.TrailRow
	Owner string // the name of the user whom the act concerns; "": none, or not known here
}

// kinds are the acts to choose from. A value without a point stands for all acts that begin with it, such as
// user.create.
var kinds = form.Options("", "All", "user", "Users and sign-ins", string(account.ActSignInFailed), "Failed sign-ins",
	"key", "API keys", "credit", "Credits", "generation", "Generations", "data", "Audits and backups",
	"serve", "Starts and stops", "clock", "Clock")

// Trail lists the audit trail, newest first. Without an account.TrailStore there is no such page.
func Trail(p *frame.Page) error {
	trail := p.Engine.Trail()
	if trail == nil {
		return imagegen.ErrNotFound
	}
	q := p.Query()
	v := trailView{Kinds: kinds, Form: form.Filled("actor", q.Get("actor"), "act", q.Get("act"),
		"target", q.Get("target"), "since", q.Get("since"))}
	query, err := trailQuery(p, v.Form)
	if err != nil {
		return err
	}
	v.Narrow = query.Actor != "" || query.Act != "" || query.Targets != nil || !query.Since.IsZero()
	found, err := findRows(p.Context(), trail, query)
	if err != nil {
		return err
	}
	for _, r := range found.Rows {
		v.Lines = append(v.Lines, trailLine{r, p.UserName(r.User)})
	}
	v.Pager = p.PagerBefore(found.Next)
	return p.Render("trail", v)
}

// trailQuery returns what the form asks for. A day that cannot be read is ignored.
func trailQuery(p *frame.Page, f *form.Form) (account.TrailQuery, error) {
	before, err := p.Before()
	q := account.TrailQuery{Actor: f.Value("actor"), Act: f.Value("act"), Before: before, Limit: trailPage,
		Targets: p.Engine.Accounts().TrailTargets(p.Context(), f.Value("target"))}
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
