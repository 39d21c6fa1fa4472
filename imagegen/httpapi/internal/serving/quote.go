package serving

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// longestShown is how many characters of what a caller sent a message repeats.
const longestShown = 40

// Shorten cuts a text that a caller sent to what a message repeats of it.
func Shorten(s string) string {
	if utf8.RuneCountInString(s) > longestShown {
		return string([]rune(s)[:longestShown]) + "…"
	}
	return s
}

// Shown quotes what a caller sent, shortened and with escapes, so that it is safe in a message.
func Shown(s string) string { return strconv.Quote(Shorten(s)) }

// IsInteger takes -7, 0 and 42, but not 007, 1.0 or 1e3.
func IsInteger(s string) bool {
	s = strings.TrimPrefix(s, "-")
	return s != "" && strings.Trim(s, "0123456789") == "" && (s[0] != '0' || s == "0")
}
