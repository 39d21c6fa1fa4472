// Package form holds what somebody has entered in a form of the console, and what is wrong with it.
package form

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/format"
)

// Form is what somebody has entered, and what is wrong with it. Handlers read values with functions that add faults,
// and then ask Valid; a form with faults is shown again with status 422.
type Form struct {
	Values url.Values
	faults map[string]string // a sentence for each field with a fault, and for "", the form as a whole; may be nil
}

// Filled returns a form with values, given as alternating names and values, as if they had been entered.
func Filled(pairs ...string) *Form {
	f := &Form{Values: url.Values{}}
	for i := 0; i < len(pairs); i += 2 {
		f.Values.Set(pairs[i], pairs[i+1])
	}
	return f
}

// Value is what was entered in a field, without surrounding space. A field that was not sent is empty.
func (f *Form) Value(name string) string { return strings.TrimSpace(f.Values.Get(name)) }

// Secret is what was entered in a field, as it is: space may be part of a password. No page may show it again.
func (f *Form) Secret(name string) string { return f.Values.Get(name) }

// AddFault records what is wrong with a field or, for "", with the form as a whole, and what to do, as a sentence. The
// first fault of each stays.
func (f *Form) AddFault(name, format string, args ...any) {
	if f.faults == nil {
		f.faults = map[string]string{}
	}
	if f.faults[name] == "" {
		f.faults[name] = fmt.Sprintf(format, args...)
	}
}

// AddError turns an error that the user can correct into a fault of a field; "" means of the form as a whole. It
// returns any other error, and nil in place of one that it has turned into a fault: so ask Valid after it.
func (f *Form) AddError(name string, err error) error {
	e, ok := errors.AsType[*imagegen.Error](err)
	mendable := []imagegen.Code{imagegen.CodeInvalidRequest, imagegen.CodeInsufficientCredits,
		imagegen.CodeChargeRefused}
	if !ok || !slices.Contains(mendable, e.Code) {
		return err
	}
	f.AddFault(name, "%s", format.Sentence(e.Message))
	return nil
}

// Valid reports whether the form has no faults so far.
func (f *Form) Valid() bool { return len(f.faults) == 0 }

// Fault is what is wrong with a field or, for "", with the form as a whole; "" if nothing is.
func (f *Form) Fault(name string) string { return f.faults[name] }

// Touched reports whether one of the fields has a value or a fault, so that a page that folds them shows them.
func (f *Form) Touched(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return f.Value(name) != "" || f.Fault(name) != "" })
}

// ClearFaults removes all faults, before the form is read again.
func (f *Form) ClearFaults() { f.faults = nil }

// tokenPrefix begins a token, so that it is not shown as if somebody had entered it.
const tokenPrefix = "console-"

// NewToken returns a token for a form. With it a form that is sent twice, by a reload or a second press of the button,
// counts once.
func NewToken() string { return tokenPrefix + rand.Text() }

// EnteredReference is the reference of a grant as it is shown. A token means nothing to anybody: "".
func EnteredReference(ref string) string {
	if strings.HasPrefix(ref, tokenPrefix) {
		return ""
	}
	return ref
}
