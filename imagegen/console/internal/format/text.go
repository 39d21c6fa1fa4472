package format

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sentence turns an error's message, which begins in lower case and has no full stop, into a sentence.
func Sentence(s string) string {
	if s == "" {
		return ""
	}
	_, n := utf8.DecodeRuneInString(s)
	return Initial(s) + s[n:] + "."
}

// Initial is the first letter of a text, as a capital.
func Initial(s string) string {
	r, _ := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r))
}

// Excerpt is the beginning of a text as one line of at most most code points, with … if something is left out. It
// reads no more of the text than that, since a prompt may be long.
func Excerpt(s string, most int) string {
	var line []rune
	for word := range strings.FieldsSeq(s) {
		if len(line) > 0 {
			line = append(line, ' ')
		}
		for _, r := range word {
			if len(line) >= most {
				return strings.TrimSpace(string(line)) + "…"
			}
			line = append(line, r)
		}
	}
	return string(line)
}
