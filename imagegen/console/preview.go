package console

import (
	"cmp"

	"github.com/imagegend/imagegend/imagegen"
)

// previewView is the data of the blocks cost and samples.
type previewView struct {
	Known   bool   // there is a price
	Problem string // one of the form's faults; "": there are none
	Quote   imagegen.Quote
	N       int
	Size    imagegen.Size
	Balance imagegen.Credits
	Person  person
	Samples []sample
}

// Enough reports whether the balance covers the price.
func (v previewView) Enough() bool { return v.Quote.Credits <= v.Balance }

// After is the balance afterwards if all images come.
func (v previewView) After() imagegen.Credits { return v.Balance - v.Quote.Credits }

// TooFew says what is missing, and what to do.
func (v previewView) TooFew() string {
	return tooFew(v.Quote, imagegen.Balance{Credits: v.Balance}, v.Person)
}

// preview answers a script with the price of the form as it stands, and with the same request in code. It answers 200
// even if the form has faults, since it is still being filled in: one of them is shown in place of the price. It
// charges nothing. The script sends the names of files instead of the files.
func (c *Console) preview(p *page) error {
	u, err := p.upload()
	if err != nil {
		return err
	}
	u.discard() // files do not belong here, but somebody may send some
	names := append(u.fileNames(), u.values["reference_name"]...)
	q, err := p.formRequest(u.form, len(names))
	if err != nil {
		return err
	}
	b, err := p.service().Balance(p.context())
	if err != nil {
		return err
	}
	return p.fragment("playground", "preview", p.previewOf(q, b, names, u.Value("mask_name")))
}

// previewOf returns the preview of a request. names are the file names of its references for the samples, and mask
// that of its mask; "": it has none.
func (p *page) previewOf(q *formRequest, b imagegen.Balance, names []string, mask string) previewView {
	return previewView{Known: q.priced, Problem: q.form.firstFault(), Quote: q.quote, N: q.request.N, Size: q.request.Size,
		Balance: b.Credits, Person: p.person, Samples: samples(p.origin(), q.request, names, mask, p.c.cfg.OpenAI)}
}

// firstFault is one fault of the form, preferably the one highest on the page; "" if none of those fields has any.
func (f *form) firstFault() string {
	fault := f.fault
	for _, name := range []string{"model", "prompt", referenceField, "ratio", "size", "tier", "n", "quality"} {
		fault = cmp.Or(fault, f.faults[name])
	}
	return fault
}
