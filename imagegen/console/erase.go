package console

import "github.com/imagegend/imagegend/imagegen"

// confirmErase asks first, since an erasure cannot be undone.
func (c *Console) confirmErase(p *page) error {
	r, err := c.ended(p)
	if err != nil {
		return err
	}
	return p.render("erase", tile{Generation: r.Generation()})
}

// erase erases one of the person's generations for good. Which one it may be was checked by ended: the engine's Erase
// takes any user's.
func (c *Console) erase(p *page) error {
	r, err := c.ended(p)
	if err != nil {
		return err
	}
	if err := c.cfg.Engine.Erase(p.context(), r.ID); err != nil {
		return err
	}
	return p.done("The generation is erased.", "generations")
}

// ended is record, and refuses a generation that is under way.
func (c *Console) ended(p *page) (imagegen.Record, error) {
	r, err := c.record(p)
	if err == nil && !r.Terminal() {
		err = imagegen.Invalid("this generation has not ended yet; it can be erased when it has")
	}
	return r, err
}
