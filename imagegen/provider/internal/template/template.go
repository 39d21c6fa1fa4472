// Package template fills the input that a configuration describes with the values of a request. A [Filler] is for a model
// whose whole input is configured, and makes sure that nothing a request asks for is dropped. A [Part] is for a provider
// that adds configured fields to its own. Values are never parsed again, so a prompt cannot contain a placeholder.
package template

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The placeholders. One that is a value of its own becomes what it stands for, a number or a list;
// one within a longer text becomes text.
const (
	Prompt     = "{{prompt}}"
	N          = "{{n}}" // images of one call
	Width      = "{{width}}"
	Height     = "{{height}}"
	Size       = "{{size}}"           // 1024x768
	Ratio      = "{{ratio}}"          // 4:3
	Tier       = "{{tier}}"           // 1K
	Quality    = "{{quality}}"        // auto, low, medium or high
	Reference  = "{{reference}}"      // the first reference image, as a data: URL
	References = "{{references}}"     // the list of them
	Seed       = "{{seed}}"           // a number
	Format     = "{{format}}"         // png, or what the model calls it
	Background = "{{background}}"     // opaque or transparent
	Mask       = "{{mask}}"           // a PNG, as a data: URL: what is transparent is made anew
	WhiteMask  = "{{white_mask}}"     // the same in black and white: what is white is made anew
	Each       = "{{each_reference}}" // within an element of a list, which stands there once for each of them
)

var known = []string{Prompt, N, Width, Height, Size, Ratio, Tier, Quality, Reference, References, Each, Seed, Format, Background, Mask, WhiteMask}

// alone are those that may stand for nothing, or for a file: they are whole values.
var alone = []string{Reference, References, Each, Seed, Format, Background, Mask, WhiteMask}

var placeholder = regexp.MustCompile(`\{\{[^{}]*\}\}`)

// template is a model's input with placeholders. It is never changed.
type template struct {
	input map[string]any
	uses  map[string]bool // the placeholders that occur
}

// values are what the placeholders stand for: a string, an integer, or a list of strings. A field whose
// whole value is a placeholder without a value is left out.
type values map[string]any

// parse checks an input: nothing but strings, numbers, truth values, lists and maps, with known
// placeholders. A reference is a whole value, never within a text.
func parse(input map[string]any) (*template, error) {
	t := &template{input: input, uses: map[string]bool{}}
	if err := t.scan(input, false); err != nil {
		return nil, err
	}
	if !t.uses[Prompt] {
		return nil, fmt.Errorf("the option Input has no %s", Prompt)
	}
	return t, nil
}

// scan checks a value and notes the placeholders in it. listed says that it is an element of a list, or within one.
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

// fill returns the input with the placeholders replaced. What a value says is not looked at again:
// a prompt may hold a placeholder's name.
func (t *template) fill(v values) map[string]any {
	filled, _ := v.fill(t.input)
	return filled.(map[string]any)
}

// fill reports whether there is a value at all.
func (v values) fill(from any) (any, bool) {
	switch from := from.(type) {
	case string:
		return v.fillText(from)
	case map[string]any:
		filled := make(map[string]any, len(from))
		for name, member := range from {
			if value, ok := v.fill(member); ok {
				filled[name] = value
			}
		}
		return filled, true
	case []any:
		return v.fillList(from)
	}
	return from, true
}

// fillList repeats an element for each reference if it holds the placeholder for that. A list of nothing
// but such elements is left out without references.
func (v values) fillList(from []any) (any, bool) {
	filled, repeated := make([]any, 0, len(from)), false
	for _, element := range from {
		if !holds(element, Each) {
			if value, ok := v.fill(element); ok {
				filled = append(filled, value)
			}
			continue
		}
		repeated = true
		each, _ := v[Each].([]string)
		for _, reference := range each {
			one := maps.Clone(v)
			one[Each] = reference
			value, _ := one.fill(element)
			filled = append(filled, value)
		}
	}
	return filled, !repeated || len(filled) > 0
}

func holds(v any, name string) bool {
	switch v := v.(type) {
	case string:
		return v == name
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(v)), func(member any) bool { return holds(member, name) })
	case []any:
		return slices.ContainsFunc(v, func(element any) bool { return holds(element, name) })
	}
	return false
}

func (v values) fillText(s string) (any, bool) {
	if slices.Contains(known, s) {
		value, ok := v[s]
		return value, ok
	}
	return placeholder.ReplaceAllStringFunc(s, func(name string) string { return text(v[name]) }), true
}

func text(v any) string {
	switch v := v.(type) {
	case int:
		return strconv.Itoa(v)
	case string:
		return v
	}
	return ""
}

// usesPixels reports whether the input tells a size to the pixel.
func (t *template) usesPixels() bool { return t.uses[Size] || t.uses[Width] && t.uses[Height] }

// check compares the placeholders with what the model is configured to do, so that nothing that a
// request asks for is dropped.
func (t *template) check(references, perCall int) error {
	all := t.uses[References] || t.uses[Each]
	switch {
	case t.uses[Width] != t.uses[Height]:
		return fmt.Errorf("the option Input has one of %s and %s; it needs both", Width, Height)
	case references > 0 && !all && !t.uses[Reference]:
		return fmt.Errorf("the option MaxReferences is %d, but Input has neither %s nor %s", references, References, Reference)
	case references > 1 && !all:
		return fmt.Errorf("the option MaxReferences is %d, but Input has %s for the first one only; use %s", references, Reference, References)
	case references == 0 && (all || t.uses[Reference]):
		return errors.New("the option Input has a place for references, but MaxReferences is 0")
	case perCall > 1 && !t.uses[N]:
		return fmt.Errorf("the option MaxPerCall is %d, but Input has no %s", perCall, N)
	}
	return nil
}
