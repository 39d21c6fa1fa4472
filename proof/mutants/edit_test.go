package main

import (
	"strings"
	"testing"

	"github.com/matryer/is"
)

const sound = `package p

const most = 64

func (s *Store[K]) put(k K, more ...int) error {
	s.lock() // for all of it
	if err := s.check(k); err != nil {
		return err
	}
	switch {
	case s.full(), s.err != nil:
		return errFull
	case s.has(k):
		return nil
	}
	return s.write(
		k, more...,
	)
}
`

func TestEdits(t *testing.T) {
	for name, c := range map[string]struct {
		in       string
		edit     edit
		from, to string // what of the source becomes what
	}{
		"a constant": {"most", replace(`64`, `2`), "64", "2"},
		"a call": {"Store.put", replace(`s.write(k, more...)`, `nil`), "s.write(\n\t\tk, more...,\n\t)",
			"nil"},
		"the rest of a list": {"Store.put", replace(`s.write($*all...)`, `s.test($*all)`),
			"s.write(\n\t\tk, more...,\n\t)", "s.test(k, more)"},
		"any one": {"Store.put", replace(`if err := $x; err != nil { $*_ }`, `_ = $x`),
			"if err := s.check(k); err != nil {\n\t\treturn err\n\t}", "_ = s.check(k)"},
		"drop":        {"Store.put", drop(`s.lock()`), "s.lock()", ""},
		"drop a case": {"Store.put", drop(`case s.has(k): return nil`), "case s.has(k):\n\t\treturn nil", ""},
		"never":       {"Store.put", never(`s.full()`), "s.full()", "(false && (s.full()))"},
		"always":      {"Store.put", always(`s.full()`), "s.full()", "(true || (s.full()))"},
		"negate":      {"Store.put", negate(`s.err != nil`), "s.err != nil", "!(s.err != nil)"},
		"before":      {"Store.put", before(`s.lock()`, `s.wait()`), "s.lock()", "s.wait()\ns.lock()"},
		"swap": {"Store.put", swap(`s.full()`, `s.err != nil`), "s.full(), s.err != nil",
			"s.err != nil, s.full()"},
		"move": {"Store.put", move(`s.lock()`, `return s.write($*_...)`), "", ""},
		"both": {"Store.put", both(drop(`s.lock()`), never(`s.full()`)), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			got, err := mutant{in: c.in, edit: c.edit}.plant([]byte(sound))
			is.NoErr(err)
			want := strings.Replace(sound, c.from, c.to, 1)
			switch name {
			case "move":
				want = strings.Replace(strings.Replace(sound, "s.lock()", "", 1), "return s.w", "s.lock()\nreturn s.w",
					1)
			case "both":
				want = strings.Replace(strings.Replace(sound, "s.lock()", "", 1), "s.full()", "(false && (s.full()))",
					1)
			}
			is.Equal(string(got), want)
		})
	}
}

func TestEditsThatDoNotFit(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		edit edit
		says string
	}{
		"no such declaration":     {"Store.get", drop(`s.lock()`), "Store.get is not declared"},
		"no place":                {"Store.put", drop(`s.unlock()`), "0 places"},
		"other arguments":         {"Store.put", replace(`s.write(k, more)`, `nil`), "0 places"},
		"two places":              {"Store.put", drop(`return $_`), "places"},
		"no pattern":              {"Store.put", drop(`if {`), "is not an expression"},
		"two changes of one":      {"Store.put", both(drop(`s.lock()`), drop(`s.lock()`)), "two changes"},
		"what is not Go any more": {"Store.put", drop(`s.err != nil`), "expected"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			_, err := mutant{in: c.in, edit: c.edit}.plant([]byte(sound))
			is.True(err != nil && strings.Contains(err.Error(), c.says)) // says what is wrong
		})
	}
}
