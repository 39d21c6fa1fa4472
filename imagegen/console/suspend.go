package console

import (
	"context"

	"github.com/imagegend/imagegend/imagegen"
)

// suspendUser ends what a user is charged for, until they are resumed. They can go on to read.
func (c *Console) suspendUser(p *page) error {
	return c.changeSuspension(p, c.cfg.Engine.Accounts().SuspendUser, " is suspended.")
}

func (c *Console) resumeUser(p *page) error {
	return c.changeSuspension(p, c.cfg.Engine.Accounts().ResumeUser, " is not suspended any more.")
}

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
