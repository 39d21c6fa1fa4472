package console

import (
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// clockView is what clock.html is given.
type clockView struct {
	Now   time.Time
	Doubt string // what the clock did; "": it is trusted
}

// clock asks whether the clock, which is in doubt, is right.
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
