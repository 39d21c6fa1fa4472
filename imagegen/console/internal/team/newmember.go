package team

import (
	"errors"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console/internal/form"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
	"github.com/imagegend/imagegend/imagegen/console/internal/invite"
	"github.com/imagegend/imagegend/imagegen/console/internal/limits"
)

// maxMembers is how many members a sponsor can have before it can invite no more here. Members made concurrently, or
// otherwise, may exceed it.
const maxMembers = 1000

// newMemberView is the data of member-new.html.
type newMemberView struct {
	Form   *form.Form
	Prefix string // of the member's name
	Days   []form.Option
}

// NewMember shows the form for a new member.
func NewMember(p *frame.Page) error { return showNew(p, form.Filled("days", invite.DefaultDays)) }

// showNew renders the form for a new member, which may have faults.
func showNew(p *frame.Page, f *form.Form) error {
	return p.RenderForms("member-new", newMemberView{f, account.MemberName(p.Person.User, ""), invite.Days}, f)
}

// CreateMember creates a user for whom the person pays, and shows the link with which it chooses a password. If the
// link cannot be made, the member stays, and its page makes one.
func CreateMember(p *frame.Page, f *form.Form) error {
	name, l, expires := f.Value("name"), limits.Read(f, imagegen.KeyLimits{}), invite.Expiry(f, p.Now)
	if name == "" {
		f.AddFault("name", "Give the member a name.")
	}
	if f.Valid() {
		if full, err := isFull(p); err != nil {
			return err
		} else if full {
			f.AddFault("", "You have %d members, and can invite no more here. Ask the operator of this service.",
				maxMembers)
		}
	}
	var m imagegen.User
	if f.Valid() {
		var err error
		m, err = p.Engine.Accounts().CreateMember(p.Context(), p.Person.ID, name, l)
		if errors.Is(err, imagegen.ErrExists) {
			f.AddFault("name", "There is a user of this name already. Choose another.")
		} else if err = f.AddError("name", err); err != nil {
			return err
		}
	}
	if !f.Valid() {
		return showNew(p, f)
	}
	return invite.Show(p, m, account.RoleUser, expires, "team", string(m.ID))
}

// isFull reports whether the person has maxMembers.
func isFull(p *frame.Page) (bool, error) {
	q := imagegen.UserQuery{Limit: imagegen.MaxPageSize, Sponsor: p.Person.ID}
	for n := 0; ; {
		found, err := p.FindUsers(q)
		if n += len(found.Users); err != nil || n >= maxMembers || found.Next == "" {
			return n >= maxMembers, err
		}
		q.After = found.Next
	}
}

// Invite makes a link for a member who has not signed in yet, which replaces an earlier one.
func Invite(p *frame.Page, m imagegen.User, f *form.Form) error {
	can, err := invitable(p, m)
	if err != nil {
		return err
	}
	if !can {
		return imagegen.Invalid("only an operator of this service can make a link for %s, who has signed in before", m.Name)
	}
	expires := invite.Expiry(f, p.Now)
	if !f.Valid() {
		return showMember(p, m, memberView{Invite: f})
	}
	return invite.Show(p, m, account.RoleUser, expires, "team", string(m.ID))
}
