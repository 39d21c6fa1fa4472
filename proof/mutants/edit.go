package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// edit is a change of a declaration that says what it does to the syntax. What it is made of are
// patterns; it fails unless each of them matches in one place.
type edit func(declaration) ([]splice, error)

// splice is text that takes the place of what stands from one offset of a file to another.
type splice struct {
	from, to int
	text     string
}

// replace puts new in place of what matches old. The wildcards of old stand in new for what they matched.
func replace(old, new string) edit {
	return func(d declaration) ([]splice, error) {
		f, err := d.find(old)
		if err != nil {
			return nil, err
		}
		text := new
		for name, nodes := range f.bound {
			text = strings.NewReplacer("$*"+name, d.text(nodes), "$"+name, d.text(nodes)).Replace(text)
		}
		return []splice{{d.offset(f.Pos()), d.offset(f.End()), text}}, nil
	}
}

// drop takes out a statement, several that follow each other, or a case.
func drop(old string) edit { return replace(old, "") }

// never makes a condition false: what it guards does not happen.
func never(condition string) edit { return around("(false && (", condition, "))") }

// always makes a condition true.
func always(condition string) edit { return around("(true || (", condition, "))") }

// negate turns a condition round.
func negate(condition string) edit { return around("!(", condition, ")") }

// before puts statements before one that matches.
func before(old, added string) edit { return around(added+"\n", old, "") }

// around leaves what matches where it is, so that there may be other changes within it.
func around(opening, old, closing string) edit {
	return func(d declaration) ([]splice, error) {
		f, err := d.find(old)
		if err != nil {
			return nil, err
		}
		from, to := d.offset(f.Pos()), d.offset(f.End())
		return []splice{{from, from, opening}, {to, to, closing}}, nil
	}
}

// swap lets two pieces change places.
func swap(a, b string) edit {
	return both(
		quote(a, func(text string) edit { return replace(b, text) }),
		quote(b, func(text string) edit { return replace(a, text) }),
	)
}

// move puts a statement before another one.
func move(old, to string) edit {
	return both(drop(old), quote(old, func(text string) edit { return before(to, text) }))
}

// quote makes a change with the text of what matches.
func quote(old string, change func(text string) edit) edit {
	return func(d declaration) ([]splice, error) {
		f, err := d.find(old)
		if err != nil {
			return nil, err
		}
		return change(d.text(f.pattern))(d)
	}
}

// both makes two changes of one declaration.
func both(a, b edit) edit {
	return func(d declaration) ([]splice, error) {
		first, err := a(d)
		if err != nil {
			return nil, err
		}
		second, err := b(d)
		return append(first, second...), err
	}
}

// applySplices makes the changes in a file.
func applySplices(src []byte, changes []splice) ([]byte, error) {
	slices.SortStableFunc(changes, func(a, b splice) int { return cmp.Compare(a.from, b.from) })
	var out []byte
	done := 0
	for _, s := range changes {
		if s.from < done {
			return nil, fmt.Errorf("two changes of one place: %q", s.text)
		}
		out = append(append(out, src[done:s.from]...), s.text...)
		done = s.to
	}
	return append(out, src[done:]...), nil
}
