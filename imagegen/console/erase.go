package console

import (
	"github.com/imagegend/imagegend/imagegen"
)

// confirmErase asks first, since an erasure cannot be undone.
func (c *Console) confirmErase(p *page) error {
	r, err := c.record(p)
	if err != nil {
		return err
	}
	if !r.Terminal() {
		return notEnded()
	}
	return p.render("erase", tile{Generation: r.Generation()})
}

// erase erases one of the person's generations for good. Which one it may be was checked by record: the engine's
// Erase takes any user's.
func (c *Console) erase(p *page) error {
	r, err := c.record(p)
	if err != nil {
		return err
	}
	if !r.Terminal() {
		return notEnded()
	}
	if err := c.cfg.Engine.Erase(p.context(), r.ID); err != nil {
		return err
	}
	return p.done("The generation is erased.", "generations")
}

// notEnded refuses to erase a generation that is under way.
func notEnded() error {
	return imagegen.Invalid("this generation has not ended yet; it can be erased when it has")
}
