package console

// favour marks one of the person's generations as a favourite, or removes the mark. A script gets the new button, other
// browsers are redirected to the generation.
func (c *Console) favour(p *page) error {
	f, err := p.form()
	if err != nil {
		return err
	}
	r, err := c.record(p)
	if err != nil {
		return err
	}
	if err := p.service().Favour(p.context(), r.ID, f.Value("favourite") != ""); err != nil {
		return err
	}
	if !p.scripted() {
		return p.redirect("generations", string(r.ID))
	}
	v, err := c.generationOf(p)
	if err != nil {
		return err
	}
	return p.fragment("generation", "favourite", v)
}
