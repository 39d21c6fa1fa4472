package console

import (
	"cmp"

	"github.com/imagegend/imagegend/imagegen"
)

// previewView is what the blocks cost and samples are given.
type previewView struct {
	Known   bool // whether there is a price
	Problem string
	Quote   imagegen.Quote
	N       int
	Size    imagegen.Size
	Balance imagegen.Credits
	Person  person
	Samples []sample
}

// Enough reports whether the balance pays for it.
func (v previewView) Enough() bool { return v.Quote.Credits <= v.Balance }

// After is the balance when all images have come.
func (v previewView) After() imagegen.Credits { return v.Balance - v.Quote.Credits }

// TooFew says what is missing, and what to do.
func (v previewView) TooFew() string {
	return tooFew(v.Quote, imagegen.Balance{Credits: v.Balance}, v.Person)
}

// preview answers with the cost of what the form holds, and with the same request in code. It is
// never refused: what is wrong so far is a part of the answer.
func (c *Console) preview(p *page) error {
	u, err := p.upload()
	if err != nil {
		return err
	}
	u.discard() // no file belongs here
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

// previewOf is what the page says of a draft whose references, and whose mask, have these names; "": there is none.
func (p *page) previewOf(q *formRequest, b imagegen.Balance, names []string, mask string) previewView {
	return previewView{Known: q.priced, Problem: q.form.firstFault(), Quote: q.quote, N: q.request.N, Size: q.request.Size,
		Balance: b.Credits, Person: p.person, Samples: samples(p.origin(), q.request, names, mask, p.c.cfg.OpenAI)}
}

// firstFault is one of the things that are wrong; "" if nothing is.
func (f *form) firstFault() string {
	fault := f.fault
	for _, name := range []string{"model", "prompt", referenceField, "ratio", "size", "tier", "n", "quality"} {
		fault = cmp.Or(fault, f.faults[name])
	}
	return fault
}
