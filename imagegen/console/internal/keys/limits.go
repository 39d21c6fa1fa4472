package keys

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/form"
	"github.com/imagegend/imagegend/imagegen/console/internal/format"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
)

// The names of the fields for a key's limits, in the form of a new key and in one of their own.
const (
	limitTotal   = "limit_total"
	limitDaily   = "limit_daily"
	limitMonthly = "limit_monthly"
	limitAtOnce  = "limit_at_once"
)

// readLimits reads the limits of a key. An empty field means without a limit; one that cannot be read has a fault.
func readLimits(f *form.Form) (l imagegen.KeyLimits) {
	for _, c := range []struct {
		name  string
		limit *imagegen.Credits
	}{{limitTotal, &l.Credits}, {limitDaily, &l.Daily}, {limitMonthly, &l.Monthly}} {
		if f.Value(c.name) != "" {
			*c.limit = f.Credits(c.name)
		}
	}
	if written := f.Value(limitAtOnce); written != "" {
		n, err := strconv.Atoi(written)
		if err != nil || n < 1 || n > imagegen.MaxKeyConcurrent {
			f.AddFault(limitAtOnce, "Enter a whole number of requests, from 1 to %s.",
				format.Credits(imagegen.MaxKeyConcurrent))
		}
		l.Concurrent = n
	}
	return l
}

// filledLimits returns a form that shows limits; no limit is an empty field.
func filledLimits(l imagegen.KeyLimits) *form.Form {
	text := func(n int64) string {
		if n == 0 {
			return ""
		}
		return strconv.FormatInt(n, 10)
	}
	return form.Filled(limitTotal, text(int64(l.Credits)), limitDaily, text(int64(l.Daily)),
		limitMonthly, text(int64(l.Monthly)), limitAtOnce, text(int64(l.Concurrent)))
}

// Limited describes the key's limits in words; "" if it has none.
func (k Line) Limited() string {
	var said []string
	for _, c := range []struct {
		limit imagegen.Credits
		when  string
	}{{k.Limits.Credits, "in all"}, {k.Limits.Daily, "a day"}, {k.Limits.Monthly, "a month"}} {
		if c.limit > 0 {
			said = append(said, format.Amount(c.limit)+" "+c.when)
		}
	}
	if k.Limits.Concurrent > 0 {
		said = append(said, format.Count(k.Limits.Concurrent, "request", "requests")+" at once")
	}
	return strings.Join(said, ", ")
}

// limitsView is the data of key-limits.html.
type limitsView struct {
	namedKey
	Used imagegen.KeyUse // what counts against the limits now
	Form *form.Form
	Here string // the address that the form is sent to
	Back string // the page that Cancel leads to
}

// Limits shows the limits of a key.
func Limits(p *frame.Page, k namedKey) error {
	return showLimits(p, k, http.StatusOK, filledLimits(k.Limits))
}

// showLimits renders the page with the limits of a key.
func showLimits(p *frame.Page, k namedKey, status int, f *form.Form) error {
	use, err := p.Ledger.KeyUse(p.Context(), k.Key.User, k.ID)
	if err != nil {
		return err
	}
	v := limitsView{namedKey: k, Used: use, Form: f, Here: p.Request.URL.Path, Back: p.Address(k.listed()...)}
	return p.RenderStatus(status, "key-limits", v)
}

// SetLimits replaces the limits of a key with those of the form. They bound a program and not the person, who may
// change them, also after an operator has. Programs that use the key meet the new limits at once, and what the key has
// used so far counts.
func SetLimits(p *frame.Page, k namedKey) error {
	f, err := p.Form()
	if err != nil {
		return err
	}
	l := readLimits(f)
	if f.Valid() {
		_, err := p.Engine.Accounts().SetKeyLimits(p.Context(), k.ID, l)
		if err = f.AddError("", err); err != nil {
			return err
		}
	}
	if !f.Valid() {
		return showLimits(p, k, http.StatusUnprocessableEntity, f)
	}
	now := Line{Key: imagegen.Key{Limits: l}}.Limited()
	if now == "" {
		return p.RedirectWith(k.title()+" has no limits.", k.listed()...)
	}
	return p.RedirectWith(k.title()+" is limited to "+now+".", k.listed()...)
}
