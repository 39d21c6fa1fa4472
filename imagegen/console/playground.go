package console

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/imagegend/imagegend/imagegen"
)

// playgroundView is the data of playground.html.
type playgroundView struct {
	Form    *form
	Person  person
	Model   imagegen.ModelInfo
	Models  []option
	Balance imagegen.Balance
	Preview previewView
	Results resultsView
	Fresh   bool // the address names no settings, so a script may restore what was typed before
	Gone    int  // how many images of the generation whose settings these are cannot be used again
	Lost    bool // files were sent with the form; browsers do not fill them in again
}

// Limit is the length of the longest prompt, in characters, formatted.
func (v playgroundView) Limit() string { return credits(imagegen.Credits(v.Model.MaxPrompt)) }

// Example is a prompt for whoever has none yet.
func (playgroundView) Example() string { return examplePrompt }

// FileLimit is how large a reference image can be, formatted.
func (v playgroundView) FileLimit() string {
	return strconv.FormatInt(v.Model.MaxReferenceBytes>>20, 10) + " MiB"
}

// MaskPixels is the most pixels that a mask can have.
func (playgroundView) MaskPixels() int { return imagegen.MaxMaskPixels }

// MinEdge and MaxEdge bound the width and the height of an exact size.
func (playgroundView) MinEdge() int { return imagegen.MinEdge }
func (playgroundView) MaxEdge() int { return imagegen.MaxEdge }

// playground shows the form, with the settings of a generation if the address names one: again to repeat it, result
// to show it beside the form. Images of the person's own can be named as references, too.
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

// settings returns a form with the request of one of the person's generations. gone counts its images that cannot be
// used again: uploaded references, which are kept only until the generation has ended, images that were erased since,
// and a mask.
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

// settingsOf returns a form with the request of a generation, without images. Its size is turned back into ratio and
// tier if those produce it, otherwise it is an exact size.
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

// showPlayground renders the page with a form and its price.
func (c *Console) showPlayground(p *page, status int, f *form, references int, v playgroundView) error {
	q, err := p.formRequest(f, references)
	if err != nil {
		return err
	}
	return c.showFormRequest(p, status, q, v)
}

// showFormRequest renders the page; v holds what depends on the request alone. The preview comes before the defaults
// are filled in, which does not change the request.
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

// models are the models on offer, as choices.
func (c *Console) models(ctx context.Context) (all []option, err error) {
	infos, err := c.cfg.Engine.Models(ctx)
	for _, m := range infos {
		all = append(all, option{m.ID, m.ID})
	}
	return all, err
}

// fillDefaults fills in what the form leaves open, so that the page shows it as chosen, and a token. The token
// becomes the idempotency key of the request: however often the form is sent, it makes one generation.
func (q *formRequest) fillDefaults() {
	if q.model.ID == "" {
		return
	}
	for name, value := range map[string]string{"model": q.model.ID, "tier": string(q.model.Tiers[0]), "ratio": string(imagegen.RatioAuto),
		"n": "1", "quality": string(imagegen.QualityAuto), "token": formToken()} {
		q.form.values.Set(name, cmp.Or(q.form.Value(name), value))
	}
}

// create starts a generation. It is always asynchronous: the result beside the form shows how far it is, and closing
// the browser loses nothing. A button of the form may also ask for something else than images, such as another
// model's choices; then the form is shown again.
//
// Order: files have gone to the spool when upload returns. They are discarded at the end, unless Generate has taken
// them over.
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
	// Until here the request had only the number of references, for the price.
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
	p.about = result.ID // also if the form was sent before: then it is the first one's generation
	if p.scripted() {
		return c.showMade(p, q, result.ID)
	}
	return p.send(c.resultAddress(result.ID))
}

// showAgain shows the form again without making anything: with its price, with the choices of another model, or with
// its images rearranged.
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

// refused turns an error of Generate into a fault of the form, and returns the status for it. Errors that the user
// cannot correct are returned. After ErrIdempotencyKeyReused the form gets a new token, since sending it again is
// meant as a new request.
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

// tooFew says that the balance is too low, and what the person can do about it.
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
