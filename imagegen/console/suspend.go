package console

import (
	"context"

	"github.com/imagegend/imagegend/imagegen"
)

// suspendUser refuses new charges to a user until an operator resumes them. They can still sign in and read.
func (c *Console) suspendUser(p *page) error {
	return c.changeSuspension(p, c.cfg.Engine.Accounts().SuspendUser, " is suspended.")
}

// resumeUser lets a suspended user be charged again.
func (c *Console) resumeUser(p *page) error {
	return c.changeSuspension(p, c.cfg.Engine.Accounts().ResumeUser, " is not suspended any more.")
}

// changeSuspension applies a change to the user that the address names. It is idempotent, as both changes are. done
// says what happened, after the user's name.
func (c *Console) changeSuspension(p *page, change func(context.Context, imagegen.UserID) error, done string) error {
	u, err := c.userAt(p)
	if err != nil {
		return err
	}
	if err := change(p.context(), u.ID); err != nil {
		return err
	}
	return p.done(u.Name+done, "users", string(u.ID))
}
