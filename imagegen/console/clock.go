package console

import (
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// clockView is the data of clock.html.
type clockView struct {
	Now   time.Time
	Doubt string // why the clock is in doubt; "": it is trusted
}

// clock asks an operator whether a clock in doubt is right. A person must confirm it, since what expires by a wrong
// clock is gone for good.
func (c *Console) clock(p *page) error {
	s, err := c.status(p)
	if err != nil {
		return err
	}
	v := clockView{Now: p.now}
	for _, w := range s.Warnings {
		if isClock(w) {
			v.Doubt = w.Detail
		}
	}
	return p.render("clock", v)
}

// confirmClock makes the service trust its clock. If that is not in doubt, it changes nothing.
func (c *Console) confirmClock(p *page) error {
	if c.cfg.Operations == nil {
		return imagegen.ErrNotFound
	}
	if err := c.cfg.Operations.ConfirmClock(p.context()); err != nil {
		return err
	}
	return p.done("The clock is trusted.", "system")
}

// isClock reports whether a warning doubts the clock.
func isClock(w imagegen.Notice) bool { return w.Code == "clock" }
