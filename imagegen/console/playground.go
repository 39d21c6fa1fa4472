package console

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/imagegend/imagegend/imagegen"
)

// playgroundView is what playground.html is given.
type playgroundView struct {
	Form    *form
	Person  person
	Model   imagegen.ModelInfo
	Models  []option
	Balance imagegen.Balance
	Preview previewView
	Results resultsView
	Fresh   bool // nothing asked for these settings: what was typed before may take their place
	Gone    int  // references of the generation whose settings these are, that are not kept
	Lost    bool // files were sent, and no browser shows them again
}

// Limit is the length of the longest prompt, in characters.
func (v playgroundView) Limit() string { return credits(imagegen.Credits(v.Model.MaxPrompt)) }

// Example is a prompt for whoever has none yet.
func (playgroundView) Example() string { return examplePrompt }

// FileLimit is how large a reference image can be.
func (v playgroundView) FileLimit() string {
	return strconv.FormatInt(v.Model.MaxReferenceBytes>>20, 10) + " MiB"
}

// MaskPixels is the most pixels that a mask can have.
func (playgroundView) MaskPixels() int { return imagegen.MaxMaskPixels }

// MinEdge and MaxEdge are what the width and the height of an exact size can be.
func (playgroundView) MinEdge() int { return imagegen.MinEdge }
func (playgroundView) MaxEdge() int { return imagegen.MaxEdge }

func (c *Console) playground(p *page) error {
	q := p.r.URL.Query()
	f, v := filled(), playgroundView{Fresh: true}
	if id := cmp.Or(q.Get("again"), q.Get("result")); id != "" {
		var err error
		if f, v.Gone, err = c.settings(p, imagegen.GenerationID(id)); err != nil {
			return err
		}
		v.Fresh = false
	}
	for _, name := range q[ownImageField] {
		if _, err := ownImage(p.context(), p.service(), name); err != nil {
			return err
		}
		f.values.Add(ownImageField, name)
	}
	return c.showPlayground(p, http.StatusOK, f, len(f.images()), v)
}

// settings fills the form with what a generation was asked for, and counts the images that it had and that are not there
// any more.
func (c *Console) settings(p *page, id imagegen.GenerationID) (f *form, gone int, err error) {
	r, err := c.recordOf(p, id)
	if err != nil {
		return nil, 0, err
	}
	f = settingsOf(r.Generation())
	if r.Generation().Masked {
		gone++
	}
	for n, reference := range r.ReferenceImages() {
		name := cmp.Or(string(reference.Image), sentName(id, n))
		_, err := ownImage(p.context(), p.service(), name)
		switch {
		case errors.Is(err, imagegen.ErrNotFound):
			gone++
		case err != nil:
			return nil, 0, err
		default:
			f.values.Add(ownImageField, name)
		}
	}
	return f, gone, nil
}

// settingsOf fills the form with what a generation was asked for.
func settingsOf(g imagegen.Generation) *form {
	pairs := []string{"model", g.Model, "prompt", g.Prompt, "n", strconv.Itoa(g.N), "quality", string(g.Quality), "tier", string(g.Tier)}
	if g.Size.Auto() || g.Size == imagegen.SizeFor(g.Ratio, g.Tier) {
		pairs = append(pairs, "ratio", string(g.Ratio))
	} else {
		pairs = append(pairs, "ratio", exactSize, "width", strconv.Itoa(g.Size.Width), "height", strconv.Itoa(g.Size.Height))
	}
	if o := g.Options; o.Has() {
		pairs = append(pairs, "output_format", string(o.Format), "background", string(o.Background))
		if o.Seed != nil {
			pairs = append(pairs, "seed", strconv.FormatInt(*o.Seed, 10))
		}
	}
	return filled(pairs...)
}

// showPlayground fills in what the form leaves open, and shows it.
func (c *Console) showPlayground(p *page, status int, f *form, references int, v playgroundView) error {
	q, err := p.formRequest(f, references)
	if err != nil {
		return err
	}
	return c.showFormRequest(p, status, q, v)
}

func (c *Console) showFormRequest(p *page, status int, q *formRequest, v playgroundView) (err error) {
	v.Form, v.Person, v.Model = q.form, p.person, q.model
	if v.Models, err = c.models(p.context()); err != nil {
		return err
	}
	if v.Balance, err = p.service().Balance(p.context()); err != nil {
		return err
	}
	if v.Results, err = c.results(p, imagegen.GenerationID(p.r.URL.Query().Get("result"))); err != nil {
		return err
	}
	v.Preview = p.previewOf(q, v.Balance, q.form.fileNames(), "")
	q.fillDefaults()
	return p.renderStatus(status, "playground", v)
}

func (c *Console) models(ctx context.Context) (all []option, err error) {
	infos, err := c.cfg.Engine.Models(ctx)
	for _, m := range infos {
		all = append(all, option{m.ID, m.ID})
	}
	return all, err
}

// fillDefaults writes down what the form leaves open, so that the page shows it chosen. Each form carries a
// token: however often it is sent, one generation is made of it.
func (q *formRequest) fillDefaults() {
	if q.model.ID == "" {
		return
	}
	for name, value := range map[string]string{"model": q.model.ID, "tier": string(q.model.Tiers[0]), "ratio": string(imagegen.RatioAuto),
		"n": "1", "quality": string(imagegen.QualityAuto), "token": formToken()} {
		q.form.values.Set(name, cmp.Or(q.form.Value(name), value))
	}
}

// create has the images made. They are always made in the background: the result beside the form shows how
// far they are, and a browser that is closed loses nothing.
func (c *Console) create(p *page) error {
	u, err := p.upload()
	if err != nil {
		return err
	}
	defer u.discard()
	v := playgroundView{Lost: u.sent > 0}
	if u.Value("show") != "" || u.Value("use") != "" {
		return c.showAgain(p, u, v)
	}
	if id := u.Value("again"); id != "" {
		if err := c.vary(p, u, imagegen.GenerationID(id)); err != nil {
			return err
		}
	}
	q, err := p.formRequest(u.form, len(u.chosen))
	if err != nil {
		return err
	}
	if u.Value("prompt") == "" {
		u.addFault("prompt", "Describe the image that you want.")
	}
	if q.request.References, err = u.references(p.context()); err != nil {
		return err
	}
	if !u.valid() {
		return c.showFormRequest(p, http.StatusUnprocessableEntity, q, v)
	}
	if q.request.IdempotencyKey = u.Value("token"); u.mask != nil {
		q.request.Mask = u.mask
	}
	result, err := p.service().Generate(p.context(), q.request)
	if err != nil {
		status, err := p.refused(q, err)
		if err != nil {
			return err
		}
		return c.showFormRequest(p, status, q, v)
	}
	p.about = result.ID
	if p.scripted() {
		return c.showMade(p, q, result.ID)
	}
	return p.send(c.resultAddress(result.ID))
}

// showAgain shows the form as it stands: what it costs, or what another model offers.
func (c *Console) showAgain(p *page, u *upload, v playgroundView) error {
	read := p.formRequest
	if u.Value("show") == "model" {
		read = p.adaptedFormRequest
	}
	u.rearrange()
	q, err := read(u.form, len(u.images()))
	if err != nil {
		return err
	}
	return c.showFormRequest(p, http.StatusOK, q, v)
}

// refused puts what Generate answered above the form, with the status that fits. Other errors are
// returned.
func (p *page) refused(q *formRequest, err error) (int, error) {
	switch {
	case errors.Is(err, imagegen.ErrInsufficientCredits):
		b, err := p.service().Balance(p.context())
		q.form.addFormFault("%s", tooFew(q.quote, b, p.person))
		return http.StatusPaymentRequired, err
	case errors.Is(err, imagegen.ErrChargeRefused):
		return http.StatusForbidden, q.form.refuse("", err)
	case errors.Is(err, imagegen.ErrIdempotencyKeyReused):
		q.form.values.Del("token")
		q.form.addFormFault("This form was sent before, with other content. Send it again, and it is made as well.")
		return http.StatusConflict, nil
	case errors.Is(err, imagegen.ErrRateLimited):
		return http.StatusTooManyRequests, q.form.refuse("", err)
	case errors.Is(err, imagegen.ErrOverloaded):
		q.form.addFormFault("There is too much work at the moment. Nothing was charged; try again in a few seconds.")
		return http.StatusServiceUnavailable, nil
	}
	field := ""
	if e, ok := errors.AsType[*imagegen.Error](err); ok && e.Field == maskField && q.model.Mask {
		field = maskField
	}
	return http.StatusUnprocessableEntity, q.form.refuse(field, err)
}

// tooFew says what is missing, and what the person can do.
func tooFew(q imagegen.Quote, b imagegen.Balance, who person) string {
	s := "This costs " + inCredits(q.Credits) + ", and there " + plural(b.Credits, "is ", "are ") + inCredits(b.Credits) + ". "
	fewer := q.Credits > q.Price && b.Credits >= q.Price
	switch {
	case fewer && who.Operator():
		return s + "Ask for fewer images, or grant yourself credits."
	case fewer:
		return s + "Ask for fewer images, or the operator for credits."
	case who.Operator():
		return s + "Grant yourself credits."
	}
	return s + "Ask the operator for credits."
}
