package playground

import (
	"errors"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
)

// Cancel cancels a generation that waits. If it is too late, that is not an error: the page that the button is on, the
// generation's or the playground, shows how far the work has come.
func Cancel(p *frame.Page, r imagegen.Record) error {
	if _, err := p.Service().Cancel(p.Context(), r.ID); err != nil && !errors.Is(err, imagegen.ErrNotCancellable) {
		return err
	}
	switch {
	case p.Query().Get("in") != "playground":
		return p.Redirect("generations", string(r.ID))
	case p.Scripted(): // the address has no seen, so this answers at once
		return Result(p)
	}
	return p.RedirectTo(resultAddress(p, r.ID))
}
