package console

import (
	"github.com/imagegend/imagegend/imagegen"
)

// confirmErase asks first: what is erased cannot be had back.
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

func notEnded() error {
	return imagegen.Invalid("this generation has not ended yet; it can be erased when it has")
}
