package team

import (
	"cmp"
	"errors"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console/internal/form"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
	"github.com/imagegend/imagegend/imagegen/console/internal/invite"
	"github.com/imagegend/imagegend/imagegen/console/internal/limits"
)

// memberView is the data of member.html.
type memberView struct {
	line
	Left      imagegen.Balance
	Count     int              // of days that are summed up
	Periods   []frame.Filter   // links to other numbers of days
	Uses      []imagegen.Usage // what was charged for the member, by model
	Invitable bool
	Days      []form.Option
	Invite    *form.Form
	Form      *form.Form // the limits
}

// Member shows what a member used, its limits, and what its sponsor can do.
func Member(p *frame.Page, m imagegen.User) error { return showMember(p, m, memberView{}) }

// showMember renders a member's page, with the form that has faults, if any.
func showMember(p *frame.Page, m imagegen.User, v memberView) (err error) {
	v.User, v.Count, v.Periods, v.Days = m, p.Days(), p.Periods(), invite.Days
	if v.Used, err = p.Ledger.MemberUse(p.Context(), p.Person.ID, m.ID); err != nil {
		return err
	}
	if v.Left, err = p.Engine.As(m.ID).Balance(p.Context()); err != nil {
		return err
	}
	used := imagegen.UsageQuery{Member: m.ID, By: []imagegen.UsageGroup{imagegen.UsageByModel}}
	if v.Uses, err = p.LatestUsage(p.Person.ID, v.Count, used); err != nil {
		return err
	}
	if v.Invitable, err = invitable(p, m); err != nil {
		return err
	}
	v.Form = cmp.Or(v.Form, limits.Filled(m.Limits))
	v.Invite = cmp.Or(v.Invite, form.Filled("days", invite.DefaultDays))
	return p.RenderForms("member", v, v.Form, v.Invite)
}

// invitable reports whether the sponsor can make a link for a member. With the link one chooses a password and sees the
// member's images, so it is not for somebody who was a user before, nor for one who has signed in already.
func invitable(p *frame.Page, m imagegen.User) (bool, error) {
	if !strings.HasPrefix(m.Name, account.MemberName(p.Person.User, "")) || !m.DisabledAt.IsZero() {
		return false, nil
	}
	_, err := p.Logins.Login(p.Context(), m.ID)
	if errors.Is(err, imagegen.ErrNotFound) {
		return true, nil
	}
	return false, err
}

// SetLimits replaces the limits of a member with those of the form. They count at once, and so does what the member has
// used so far.
func SetLimits(p *frame.Page, m imagegen.User, f *form.Form) error {
	l := limits.Read(f, m.Limits)
	if f.Valid() {
		if err := f.AddError("", p.Engine.SetSponsor(p.Context(), m.ID, p.Person.ID, l)); err != nil {
			return err
		}
	}
	if !f.Valid() {
		return showMember(p, m, memberView{Form: f})
	}
	return p.RedirectWith(limits.Sentence(m.Name, l), "team", string(m.ID))
}

// ConfirmRemove asks first, and says what remains: a sponsor cannot take somebody back who is a user of their own.
func ConfirmRemove(p *frame.Page, m imagegen.User) error { return p.Render("member-remove", m) }

// Remove ends the sponsorship. What is under way is still charged to the sponsor.
func Remove(p *frame.Page, m imagegen.User) error {
	if err := p.Engine.SetSponsor(p.Context(), m.ID, "", imagegen.KeyLimits{}); err != nil {
		return err
	}
	return p.RedirectWith(m.Name+" is not in your team any more.", "team")
}
