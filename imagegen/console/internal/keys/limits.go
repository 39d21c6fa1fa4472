package keys

import (
	"fmt"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/form"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
	"github.com/imagegend/imagegend/imagegen/console/internal/limits"
)

// Limited describes the key's limits in words; "" if it has none. Those of a key on behalf of people are of each of its
// members.
func (k Line) Limited() string {
	text := limits.Text(k.Limits)
	if k.Members == 0 {
		return text
	}
	of := fmt.Sprintf("for %d members", k.Members)
	if text == "" {
		return of
	}
	return of + ", each " + text
}

// limitsView is the data of key-limits.html.
type limitsView struct {
	namedKey
	Used imagegen.KeyUse // what counts against the limits now
	Form *form.Form
	Back string // the page that Cancel leads to
}

// Limits shows the limits of a key.
func Limits(p *frame.Page, k namedKey) error { return showLimits(p, k, limits.Filled(k.Limits)) }

// showLimits renders the page with the limits of a key.
func showLimits(p *frame.Page, k namedKey, f *form.Form) error {
	holder, err := p.Engine.Accounts().Account(p.Context(), k.Key.User)
	if err != nil {
		return err
	}
	use, err := p.Ledger.KeyUse(p.Context(), holder.Payer(), k.ID)
	if err != nil {
		return err
	}
	v := limitsView{namedKey: k, Used: use, Form: f, Back: p.Address(k.listed()...)}
	return p.RenderForms("key-limits", v, f)
}

// SetLimits replaces the limits of a key with those of the form. They bound a program and not the person, who may
// change them, also after an operator has. Programs that use the key meet the new limits at once, and what the key has
// used so far counts.
func SetLimits(p *frame.Page, k namedKey, f *form.Form) error {
	l := limits.Read(f, k.Limits)
	if f.Valid() {
		_, err := p.Engine.Accounts().SetKeyLimits(p.Context(), k.ID, l)
		if err = f.AddError("", err); err != nil {
			return err
		}
	}
	if !f.Valid() {
		return showLimits(p, k, f)
	}
	return p.RedirectWith(limits.Sentence(k.title(), l), k.listed()...)
}
