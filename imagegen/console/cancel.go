package console

import (
	"errors"

	"github.com/imagegend/imagegend/imagegen"
)

// cancel ends a generation that waits. Where it is too late the page shows how far it has come meanwhile: that
// of the generation, or the playground if the button stands there.
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
	case p.scripted():
		return c.showResult(p)
	}
	return p.send(c.resultAddress(r.ID))
}
