// Package template fills the input that a configuration describes with the values of a request. A [Filler] is for a
// model whose whole input is configured, and makes sure that nothing a request asks for is dropped; that of [NewPart]
// is for a provider that adds configured fields to its own. Values are never parsed again, so a prompt cannot contain a
// placeholder.
package template

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// The placeholders. A string that is a placeholder and nothing else is replaced by what it stands for: text, a number
// or a list. Within a longer text a placeholder becomes text.
const (
	Prompt     = "{{prompt}}"
	N          = "{{n}}" // the number of images of one call
	Width      = "{{width}}"
	Height     = "{{height}}"
	Size       = "{{size}}"       // 1024x768
	Ratio      = "{{ratio}}"      // 4:3
	Tier       = "{{tier}}"       // 1K
	Quality    = "{{quality}}"    // auto, low, medium or high
	Reference  = "{{reference}}"  // the first reference image, as Fill's parameter url encodes it
	References = "{{references}}" // the list of all of them
	Seed       = "{{seed}}"       // a number
	EndUser    = "{{end_user}}"   // who asks, as [imagegen.ProviderRequest] says it
	Format     = "{{format}}"     // png, or what the model calls it
	Background = "{{background}}" // opaque or transparent
	Mask       = "{{mask}}"       // a PNG, encoded likewise: what is transparent is to be made anew
	WhiteMask  = "{{white_mask}}" // the same in black and white: what is white is to be made anew
	// one reference image; the innermost element of a list that contains it is repeated for each
	Each = "{{each_reference}}"
)

// known are all placeholders, in the order in which an error lists them.
var known = []string{Prompt, N, Width, Height, Size, Ratio, Tier, Quality, Reference, References, Each, Seed, EndUser,
	Format, Background, Mask, WhiteMask}

// alone are the placeholders that must be whole values: they may stand for a file, for a list, or for nothing, of
// which a text can contain none.
var alone = []string{Reference, References, Each, Seed, EndUser, Format, Background, Mask, WhiteMask}

// placeholder matches unknown placeholders too, so that a misspelt one is refused and not sent.
var placeholder = regexp.MustCompile(`\{\{[^{}]*\}\}`)

// template is a model's input with placeholders. Neither it nor its input is ever changed, so
// it is safe for concurrent use.
type template struct {
	input map[string]any
	uses  map[string]bool // the placeholders that occur
}

// values are what the placeholders stand for: a string, an int, an int64 or a []string. A field, or an element of a
// list, that is nothing but a placeholder without a value is left out.
type values map[string]any

// parse checks an input and returns its template. An input holds nothing but nil, strings,
// numbers, truth values, []any and map[string]any, and only known placeholders. An error names the option Input and
// what is wrong in it.
func parse(input map[string]any) (*template, error) {
	t := &template{input: input, uses: map[string]bool{}}
	return t, t.scan(input, false)
}

// scan checks a value and notes the placeholders in it. listed says that it is an element of a list, or within one.
// Names of fields are taken as they are: a placeholder in one is not replaced.
func (t *template) scan(v any, listed bool) error {
	switch v := v.(type) {
	case string:
		if v == Each && !listed {
			return fmt.Errorf("the option Input has %s outside a list; it belongs in an element of one", Each)
		}
		return t.scanText(v)
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if err := t.scan(v[name], listed); err != nil {
				return fmt.Errorf("%w, at %q", err, name)
			}
		}
	case []any:
		for _, element := range v {
			if err := t.scan(element, true); err != nil {
				return err
			}
		}
	case nil, bool, int, int64, uint64, float64:
	default:
		return fmt.Errorf("the option Input holds a %T", v)
	}
	return nil
}

// scanText is scan for a string.
func (t *template) scanText(s string) error {
	for _, name := range placeholder.FindAllString(s, -1) {
		switch {
		case !slices.Contains(known, name):
			return fmt.Errorf("the option Input has the placeholder %s; there are %s", name, strings.Join(known, " "))
		case slices.Contains(alone, name) && s != name:
			return fmt.Errorf("the option Input has %s within a text; it must stand alone", name)
		}
		t.uses[name] = true
	}
	return nil
}

// substitute returns a copy of the input with the placeholders replaced. It does not look at what it has put in: a
// prompt may contain the name of a placeholder.
func (t *template) substitute(v values) map[string]any {
	filled, _ := v.substitute(t.input)
	return filled.(map[string]any)
}

// substitute returns from with the placeholders replaced, and false if from is to be left out because
// a placeholder has no value.
func (v values) substitute(from any) (any, bool) {
	switch from := from.(type) {
	case string:
		return v.fillText(from)
	case map[string]any:
		filled := make(map[string]any, len(from))
		for name, member := range from {
			if value, ok := v.substitute(member); ok {
				filled[name] = value
			}
		}
		return filled, true
	case []any:
		return v.fillList(from)
	}
	return from, true
}

// fillList repeats for each reference the elements that are to be. A list that has such elements, or lists of them, is
// left out if nothing is in it in the end, as other fields of references are.
func (v values) fillList(from []any) (any, bool) {
	filled := make([]any, 0, len(from))
	for _, element := range from {
		if !repeats(element) {
			if value, ok := v.substitute(element); ok {
				filled = append(filled, value)
			}
			continue
		}
		for _, reference := range v.each() {
			one := maps.Clone(v)
			one[Each] = reference
			value, _ := one.substitute(element)
			filled = append(filled, value)
		}
	}
	return filled, len(filled) > 0 || !holds(from, Each)
}

// each are the references for which an element is repeated. Within an element that is repeated already, it is that
// element's own.
func (v values) each() []string {
	if one, ok := v[Each].(string); ok {
		return []string{one}
	}
	all, _ := v[Each].([]string)
	return all
}

// repeats reports whether an element of a list is repeated for each reference: whether it holds Each, but not in a
// list within it, whose elements are then repeated instead.
func repeats(element any) bool {
	switch element := element.(type) {
	case string:
		return element == Each
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(element)), repeats)
	}
	return false
}

// HoldsFile reports whether a value within v is a placeholder of a reference or a mask.
func HoldsFile(v any) bool { return holds(v, Reference, References, Each, Mask, WhiteMask) }

// holds reports whether a value within v is one of some placeholders and nothing else.
func holds(v any, placeholders ...string) bool {
	within := func(v any) bool { return holds(v, placeholders...) }
	switch v := v.(type) {
	case string:
		return slices.Contains(placeholders, v)
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(v)), within)
	case []any:
		return slices.ContainsFunc(v, within)
	}
	return false
}

// fillText is fill for a string. The placeholders that can be within a text always have a value.
func (v values) fillText(s string) (any, bool) {
	if slices.Contains(known, s) {
		value, ok := v[s]
		return value, ok
	}
	return placeholder.ReplaceAllStringFunc(s, func(name string) string { return fmt.Sprint(v[name]) }), true
}

// usesPixels reports whether the input tells a size to the pixel.
func (t *template) usesPixels() bool { return t.uses[Size] || t.uses[Width] && t.uses[Height] }

// checkCounts refuses an input that would drop something that a request can ask for: the prompt, one of so many
// references, or one of perCall images of a call. It also refuses a place for references if there can be none.
func (t *template) checkCounts(references, perCall int) error {
	all := t.uses[References] || t.uses[Each]
	switch {
	case !t.uses[Prompt]:
		return fmt.Errorf("the option Input has no %s", Prompt)
	case t.uses[Width] != t.uses[Height]:
		return fmt.Errorf("the option Input has one of %s and %s; it needs both", Width, Height)
	case references > 0 && !all && !t.uses[Reference]:
		return fmt.Errorf("the option MaxReferences is %d, but Input has neither %s nor %s", references, References,
			Reference)
	case references > 1 && !all:
		return fmt.Errorf("the option MaxReferences is %d, but Input has %s for the first one only; use %s", references,
			Reference, References)
	case references == 0 && (all || t.uses[Reference]):
		return errors.New("the option Input has a place for references, but MaxReferences is 0")
	case perCall > 1 && !t.uses[N]:
		return fmt.Errorf("the option MaxPerCall is %d, but Input has no %s", perCall, N)
	}
	return nil
}
