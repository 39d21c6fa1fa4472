// Package playground has the page on which people try out the models.
package playground

import (
	"cmp"
	"embed"
	"errors"
	"net/http"
	"strconv"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/form"
	"github.com/imagegend/imagegend/imagegen/console/internal/format"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
	"github.com/imagegend/imagegend/imagegen/console/internal/gallery"
)

//go:embed templates
var sources embed.FS

// Templates are those of the pages.
var Templates = frame.Templates{Files: sources}

// playgroundView is the data of playground.html.
type playgroundView struct {
	Form    *form.Form
	Person  frame.Person
	Model   imagegen.ModelInfo
	Models  []form.Option
	Balance imagegen.Balance
	Preview previewView
	Results resultsView
	Fresh   bool // the address names no settings, so a script may restore what was typed before
	Gone    int  // how many images of the generation whose settings these are cannot be used again
	Lost    bool // files were sent with the form; browsers do not fill them in again
	Dearer  bool // it was not made, since it costs more than the page has shown
}

// Limit is the length of the longest prompt, in characters, formatted.
func (v playgroundView) Limit() string { return format.Credits(imagegen.Credits(v.Model.MaxPrompt)) }

// Example is a prompt to begin with.
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

// Playground shows the form, with the settings of a generation if the address names one: again to repeat it, result
// to show it beside the form. Images of the person's own can be named as references, too.
func Playground(p *frame.Page) error {
	q := p.Query()
	f, v := form.Filled(), playgroundView{Fresh: true}
	if id := cmp.Or(q.Get("again"), q.Get("result")); id != "" {
		var err error
		if f, v.Gone, err = formOf(p, imagegen.GenerationID(id)); err != nil {
			return err
		}
		v.Fresh = false
	}
	for _, name := range q[ownImageField] {
		if _, err := gallery.OwnImage(p.Context(), p.Service(), name); err != nil {
			return err
		}
		f.Values.Add(ownImageField, name)
	}
	r, err := newFormRequest(p, f, counted{references: len(ownImages(f))})
	if err != nil {
		return err
	}
	return showFormRequest(p, http.StatusOK, r, v)
}

// formOf returns a form with the request of one of the person's generations. gone counts its images that cannot be
// used again: uploaded references, which are kept only until the generation has ended, images that were erased since,
// and a mask.
func formOf(p *frame.Page, id imagegen.GenerationID) (f *form.Form, gone int, err error) {
	r, err := gallery.RecordOf(p, id)
	if err != nil {
		return nil, 0, err
	}
	f = requestForm(r.Generation())
	if r.Generation().Masked {
		gone++
	}
	for n, reference := range r.ReferenceImages() {
		name := cmp.Or(string(reference.Image), gallery.SentName(id, n))
		_, err := gallery.OwnImage(p.Context(), p.Service(), name)
		switch {
		case errors.Is(err, imagegen.ErrNotFound):
			gone++
		case err != nil:
			return nil, 0, err
		default:
			f.Values.Add(ownImageField, name)
		}
	}
	return f, gone, nil
}

// requestForm returns a form with the request of a generation, without images. Its size is turned back into ratio and
// tier if those produce it, otherwise it is an exact size.
func requestForm(g imagegen.Generation) *form.Form {
	pairs := []string{"model", g.Model, "prompt", g.Prompt, "n", strconv.Itoa(g.N),
		"quality", string(g.Quality), "tier", string(g.Tier)}
	if g.Size.Auto() || g.Size == imagegen.SizeFor(g.Ratio, g.Tier) {
		pairs = append(pairs, "ratio", string(g.Ratio))
	} else {
		pairs = append(pairs, "ratio", exactSize,
			"width", strconv.Itoa(g.Size.Width), "height", strconv.Itoa(g.Size.Height))
	}
	if o := g.Options; o.IsSet() {
		pairs = append(pairs, "output_format", string(o.Format), "background", string(o.Background))
		if o.Seed != nil {
			pairs = append(pairs, "seed", strconv.FormatInt(*o.Seed, 10))
		}
	}
	return form.Filled(pairs...)
}

// showFormRequest renders the page; v holds what depends on the request alone. The preview comes before the defaults
// are filled in, which does not change the request.
func showFormRequest(p *frame.Page, status int, q *formRequest, v playgroundView) (err error) {
	v.Form, v.Person, v.Model = q.form, p.Person, q.model
	v.Models = gallery.ModelOptions(p)
	if v.Balance, err = p.Service().Balance(p.Context()); err != nil {
		return err
	}
	if v.Results, err = newResults(p, imagegen.GenerationID(p.Query().Get("result"))); err != nil {
		return err
	}
	v.Preview = newPreview(p, q, v.Balance, fileNames(q.form), "")
	q.fillDefaults()
	return p.RenderStatus(status, "playground", v)
}

// fillDefaults fills in what the form leaves open, so that the page shows it as chosen, and a token. The token
// becomes the idempotency key of the request: however often the form is sent, it makes one generation.
func (q *formRequest) fillDefaults() {
	if q.model.ID == "" {
		return
	}
	for name, value := range map[string]string{"model": q.model.ID, "tier": string(q.model.Tiers[0]), "n": "1",
		"ratio": string(imagegen.RatioAuto), "quality": string(imagegen.QualityAuto), "token": form.NewToken()} {
		q.form.Values.Set(name, cmp.Or(q.form.Value(name), value))
	}
}

// Create starts a generation. It is always asynchronous: the result beside the form shows how far it is, and closing
// the browser loses nothing. A button of the form may also ask for something else than images, such as another
// model's choices; then the form is shown again.
//
// Order: files have gone to the spool when readUpload returns. They are discarded at the end, unless Generate has taken
// them over.
func Create(p *frame.Page) error {
	u, err := readUpload(p)
	if err != nil {
		return err
	}
	defer u.discard()
	v := playgroundView{Lost: u.sent > 0}
	if u.Value("show") != "" || u.Value("use") != "" {
		return showAgain(p, u, v)
	}
	if id := u.Value("again"); id != "" {
		if err := fillVariation(p, u, imagegen.GenerationID(id)); err != nil {
			return err
		}
	}
	q, err := newFormRequest(p, u.Form, counted{len(u.chosen), u.mask != nil})
	if err != nil {
		return err
	}
	if u.Value("prompt") == "" {
		u.AddFault("prompt", "Describe the image that you want.")
	}
	// Until here the request had only the number of files, for the price.
	if q.request.References, err = u.references(p.Context()); err != nil {
		return err
	}
	q.request.Mask = u.mask
	if !u.Valid() {
		return showFormRequest(p, http.StatusUnprocessableEntity, q, v)
	}
	q.request.IdempotencyKey = u.Value("token")
	// What the page has shown is the most that it costs: without scripts, the form may have changed since.
	if shown := u.Value("max_credits"); shown != "" {
		most, _ := strconv.ParseInt(shown, 10, 64)
		if q.request.MaxCredits = imagegen.Credits(most); most <= 0 {
			v.Dearer = true
			return showFormRequest(p, http.StatusUnprocessableEntity, q, v)
		}
	}
	result, err := p.Service().Generate(p.Context(), q.request)
	if e, ok := errors.AsType[*imagegen.Error](err); ok && e.Field == "max_credits" {
		v.Dearer = true
		return showFormRequest(p, http.StatusUnprocessableEntity, q, v)
	}
	if err != nil {
		status, err := addRefusal(p, q, err)
		if err != nil {
			return err
		}
		return showFormRequest(p, status, q, v)
	}
	p.Generation = result.ID // also if the form was sent before: then it is the first one's generation
	if p.Scripted() {
		return showMade(p, q, result.ID)
	}
	return p.RedirectTo(resultAddress(p, result.ID))
}

// showAgain shows the form again without making anything: with its price, with the choices of another model, or with
// its images rearranged. The price is that with the files, although these have to be chosen again.
func showAgain(p *frame.Page, u *upload, v playgroundView) error {
	read := newFormRequest
	if u.Value("show") == "model" {
		read = adaptedFormRequest
	}
	files := len(u.chosen) - len(ownImages(u.Form))
	rearrangeImages(u.Form)
	q, err := read(p, u.Form, counted{files + len(ownImages(u.Form)), u.mask != nil})
	if err != nil {
		return err
	}
	return showFormRequest(p, http.StatusOK, q, v)
}

// addRefusal turns an error of Generate into a fault of the form, and returns the status for it. Errors that the user
// cannot correct are returned. After ErrIdempotencyKeyReused the form gets a new token, since sending it again is
// meant as a new request.
func addRefusal(p *frame.Page, q *formRequest, err error) (int, error) {
	switch {
	case errors.Is(err, imagegen.ErrInsufficientCredits):
		b, err := p.Service().Balance(p.Context())
		q.form.AddFault("", "%s", insufficientCredits(q.quote, b, p.Person))
		return http.StatusPaymentRequired, err
	case errors.Is(err, imagegen.ErrChargeRefused):
		return http.StatusForbidden, q.form.AddError("", err)
	case errors.Is(err, imagegen.ErrIdempotencyKeyReused):
		q.form.Values.Del("token")
		q.form.AddFault("", "This form was sent before, with other content. Send it again, and it is made as well.")
		return http.StatusConflict, nil
	case errors.Is(err, imagegen.ErrRateLimited):
		if e, ok := errors.AsType[*imagegen.Error](err); ok {
			p.SetRetryAfter(e.RetryAfter)
			q.form.AddFault("", "%s", format.Sentence(e.Message))
			return http.StatusTooManyRequests, nil
		}
	case errors.Is(err, imagegen.ErrOverloaded):
		q.form.AddFault("", "There is too much work at the moment. Nothing was charged; try again in a few seconds.")
		return http.StatusServiceUnavailable, nil
	}
	field := ""
	if e, ok := errors.AsType[*imagegen.Error](err); ok && e.Field == maskField && q.model.Mask {
		field = maskField
	}
	return http.StatusUnprocessableEntity, q.form.AddError(field, err)
}

// insufficientCredits says that the balance is too low, and what the person can do about it.
func insufficientCredits(q imagegen.Quote, b imagegen.Balance, person frame.Person) string {
	s := "This costs " + format.Amount(q.Credits) + ", and there " + format.Plural(b.Credits, "is ", "are ") +
		format.Amount(b.Credits) + ". "
	fewer := q.Credits > q.Price && b.Credits >= q.Price
	switch {
	case fewer && person.Operator():
		return s + "Ask for fewer images, or grant yourself credits."
	case fewer:
		return s + "Ask for fewer images, or the operator for credits."
	case person.Operator():
		return s + "Grant yourself credits."
	}
	return s + "Ask the operator for credits."
}
