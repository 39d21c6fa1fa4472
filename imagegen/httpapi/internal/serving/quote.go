package serving

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/internal/nearest"
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

// Unknown quotes a name that is not known, with the known one that it probably means.
func Unknown(name string, known []string) string {
	if near := nearest.Field(Shorten(name), known); near != "" {
		return Shown(name) + "; the nearest known one is " + near
	}
	return Shown(name)
}

// MaxCredits reads the field max_credits of a request.
func MaxCredits(v string) (imagegen.Credits, error) {
	n, err := strconv.ParseInt(v, 10, 64)
	if c := imagegen.Credits(n); err == nil && IsInteger(v) && c.Valid() {
		return c, nil
	}
	return 0, imagegen.InvalidField("max_credits", "max_credits must be an integer from 1 to %d; got %s",
		imagegen.MaxCredits, Shown(v))
}

// IsInteger takes -7, 0 and 42, but not 007, 1.0 or 1e3.
func IsInteger(s string) bool {
	s = strings.TrimPrefix(s, "-")
	return s != "" && strings.Trim(s, "0123456789") == "" && (s[0] != '0' || s == "0")
}
