package console

import (
	"errors"

	"github.com/imagegend/imagegend/imagegen"
)

// cancel ends a generation that waits. Where it is too late the page shows how far it has come meanwhile.
func (c *Console) cancel(p *page) error {
	r, err := c.record(p)
	if err != nil {
		return err
	}
	if _, err := p.service().Cancel(p.context(), r.ID); err != nil && !errors.Is(err, imagegen.ErrNotCancellable) {
		return err
	}
	return p.redirect("generations", string(r.ID))
}
