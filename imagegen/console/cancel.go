package console

import (
	"errors"

	"github.com/imagegend/imagegend/imagegen"
)

// cancel cancels a generation that waits. If it is too late, that is no error: the page that the button is on, the
// generation's or the playground, shows how far the work has come.
func (c *Console) cancel(p *page) error {
	r, err := c.record(p)
	if err != nil {
		return err
	}
	if _, err := p.service().Cancel(p.context(), r.ID); err != nil && !errors.Is(err, imagegen.ErrNotCancellable) {
		return err
	}
	switch {
	case p.r.URL.Query().Get("in") != "playground":
		return p.redirect("generations", string(r.ID))
	case p.scripted(): // the address has no seen, so this answers at once
		return c.showResult(p)
	}
	return p.send(c.resultAddress(r.ID))
}
