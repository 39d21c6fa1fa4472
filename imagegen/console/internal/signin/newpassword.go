package signin

import (
	"fmt"
	"unicode/utf8"

	"github.com/imagegend/imagegend/imagegen/console/internal/form"
	"github.com/imagegend/imagegend/imagegen/console/internal/format"
)

// Limits on a password, in code points. Which characters it has is up to the user.
const (
	minPassword = 12
	maxPassword = 200
	// fewest is how many different characters a password must have, so that aaaaaaaaaaaa is refused.
	fewest = 5
)

// passwordFault says why a password cannot be chosen, as the beginning of an error message; "" if it can.
func passwordFault(password string) string {
	switch n := utf8.RuneCountInString(password); {
	case !utf8.ValidString(password):
		return "a password is text that can be typed again"
	case n < minPassword:
		return fmt.Sprintf("a password has at least %d characters; this one has %d", minPassword, n)
	case n > maxPassword:
		return fmt.Sprintf("a password has at most %d characters; this one has %d", maxPassword, n)
	case countDifferent(password) < fewest:
		return fmt.Sprintf("a password has at least %d different characters; this one has %d",
			fewest, countDifferent(password))
	}
	return ""
}

// countDifferent counts the different characters of a text.
func countDifferent(text string) int {
	seen := map[rune]bool{}
	for _, r := range text {
		seen[r] = true
	}
	return len(seen)
}

// newPassword reads the fields password and again of a form in which a password is chosen. The form has a
// fault if the password cannot be used.
func newPassword(f *form.Form) string {
	chosen := f.Secret("password")
	if wrong := passwordFault(chosen); wrong != "" {
		f.AddFault("password", "%s", format.Sentence(wrong))
	} else if f.Secret("again") != chosen {
		f.AddFault("again", "This is not the same as the password above.")
	}
	return chosen
}
