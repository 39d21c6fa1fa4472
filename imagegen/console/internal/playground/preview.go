package playground

import (
	"cmp"
	"strconv"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/form"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
	"github.com/imagegend/imagegend/imagegen/console/internal/samples"
)

// previewView is the data of the blocks cost and samples.
type previewView struct {
	Known      bool   // there is a price
	Problem    string // one of the form's faults; "": there are none
	Quote      imagegen.Quote
	N          int
	References int              // how many reference images there are
	Effort     imagegen.Quality // "": neither does the price depend on it, nor does the model cap it
	Size       imagegen.Size
	Balance    imagegen.Credits
	Person     frame.Person
	Shown      string // what the page last showed as the price; "0": it has shown none
	sample     func() []samples.Sample
}

// Samples are the request in code. They are made as the page is built, one page at a time: they repeat the prompt.
func (v previewView) Samples() []samples.Sample { return v.sample() }

// Enough reports whether the balance covers the price.
func (v previewView) Enough() bool { return v.Quote.Credits <= v.Balance }

// After is the balance afterwards if all images come.
func (v previewView) After() imagegen.Credits { return v.Balance - v.Quote.Credits }

// ForReferences is the part of the price of one image that its reference images make.
func (v previewView) ForReferences() imagegen.Credits {
	return v.Quote.ReferenceCredits * imagegen.Credits(v.References)
}

// TooFew says what is missing, and what to do.
func (v previewView) TooFew() string {
	return insufficientCredits(v.Quote, imagegen.Balance{Credits: v.Balance}, v.Person)
}

// Preview answers a script with the price of the form as it stands, and with the same request in code. It answers 200
// even if the form has faults, since it is still being filled in: one of them is shown in place of the price. It
// charges nothing. The script sends the names of files instead of the files.
func Preview(p *frame.Page) error {
	u, err := readUpload(p)
	if err != nil {
		return err
	}
	u.discard() // files do not belong here, but somebody may send some
	names := append(fileNames(u.Form), u.Values["reference_name"]...)
	mask := u.Value("mask_name")
	q, err := newFormRequest(p, u.Form, counted{len(names), mask != ""})
	if err != nil {
		return err
	}
	b, err := p.Service().Balance(p.Context())
	if err != nil {
		return err
	}
	return p.RenderBlock("playground", "preview", newPreview(p, q, b, names, mask))
}

// newPreview returns the preview of a request. names are the file names of its references for the samples, and mask
// that of its mask; "": it has none.
func newPreview(p *frame.Page, q *formRequest, b imagegen.Balance, names []string, mask string) previewView {
	effort := q.quote.Effort
	if len(q.model.Prices) == 0 && effort == q.request.Quality {
		effort = ""
	}
	problem, shown := firstFault(q.form), cmp.Or(q.form.Value("max_credits"), "0")
	if q.priced && problem == "" {
		shown = strconv.FormatInt(int64(q.quote.Credits), 10)
	}
	request, origin := q.request, p.Origin()
	return previewView{Effort: effort, Known: q.priced, Problem: problem, Quote: q.quote, N: q.request.N,
		References: len(q.request.References), Size: q.request.Size, Balance: b.Credits, Person: p.Person, Shown: shown,
		sample: func() []samples.Sample { return samples.Of(origin, request, names, mask, p.OpenAI) }}
}

// firstFault is one fault of the form, preferably the one highest on the page; "" if none of those fields has any.
func firstFault(f *form.Form) string {
	fault := f.Fault("")
	for _, name := range []string{"model", "prompt", referenceField, "ratio", "size", "tier", "n", "quality"} {
		fault = cmp.Or(fault, f.Fault(name))
	}
	return fault
}
