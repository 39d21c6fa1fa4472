// Package limits has the fields for the limits of an API key, or of a member, and says them in words.
package limits

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/form"
	"github.com/imagegend/imagegend/imagegen/console/internal/format"
)

// The names of the fields, of the template "limits".
const (
	total   = "limit_total"
	daily   = "limit_daily"
	monthly = "limit_monthly"
	atOnce  = "limit_at_once"
	models  = "limit_models"
)

// Read returns the limits with what was entered. An empty field means without a limit; one that cannot be read has a
// fault.
func Read(f *form.Form, l imagegen.KeyLimits) imagegen.KeyLimits {
	for _, c := range []struct {
		name  string
		limit *imagegen.Credits
	}{{total, &l.Credits}, {daily, &l.Daily}, {monthly, &l.Monthly}} {
		if *c.limit = 0; f.Value(c.name) != "" {
			*c.limit = f.Credits(c.name)
		}
	}
	l.Concurrent = 0
	if written := f.Value(atOnce); written != "" {
		n, err := strconv.Atoi(written)
		if err != nil || n < 1 || n > imagegen.MaxKeyConcurrent {
			f.AddFault(atOnce, "Enter a whole number of requests, from 1 to %s.",
				format.Credits(imagegen.MaxKeyConcurrent))
		}
		l.Concurrent = n
	}
	l.Models = nil
	if written := f.Value(models); written != "" {
		l.Models = strings.FieldsFunc(written, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	}
	if err := (imagegen.KeyLimits{Models: l.Models}).Check(); err != nil {
		f.AddFault(models, "Name at most %d models, each once.", imagegen.MaxKeyModels)
	}
	return l
}

// Filled returns a form that shows limits; no limit is an empty field.
func Filled(l imagegen.KeyLimits) *form.Form {
	text := func(n int64) string {
		if n == 0 {
			return ""
		}
		return strconv.FormatInt(n, 10)
	}
	return form.Filled(total, text(int64(l.Credits)), daily, text(int64(l.Daily)), monthly, text(int64(l.Monthly)),
		atOnce, text(int64(l.Concurrent)), models, strings.Join(l.Models, " "))
}

// Sentence says within which limits something is from now on.
func Sentence(name string, l imagegen.KeyLimits) string {
	if l := Text(l); l != "" {
		return name + " is limited to " + l + "."
	}
	return name + " has no limits."
}

// Text says limits in words; "" if there are none.
func Text(l imagegen.KeyLimits) string {
	var said []string
	for _, c := range []struct {
		limit imagegen.Credits
		when  string
	}{{l.Credits, "in all"}, {l.Daily, "a day"}, {l.Monthly, "a month"}} {
		if c.limit > 0 {
			said = append(said, format.Amount(c.limit)+" "+c.when)
		}
	}
	if l.Concurrent > 0 {
		said = append(said, format.Count(l.Concurrent, "request", "requests")+" at once")
	}
	if len(l.Models) > 0 {
		said = append(said, "the models "+strings.Join(l.Models, ", "))
	}
	return strings.Join(said, ", ")
}
