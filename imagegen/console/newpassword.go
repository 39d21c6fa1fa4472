package console

import (
	"fmt"
	"unicode/utf8"
)

// Limits on a password, in code points. Which characters it has is up to the user.
const (
	minPassword = 12
	maxPassword = 200
	// fewest is how many different characters a password must have, so that aaaaaaaaaaaa is refused.
	fewest = 5
)

// unfit says why a password cannot be chosen, as the beginning of an error message; "" if it can.
func unfit(password string) string {
	switch n := utf8.RuneCountInString(password); {
	case !utf8.ValidString(password):
		return "a password is text that can be typed again"
	case n < minPassword:
		return fmt.Sprintf("a password has at least %d characters; this one has %d", minPassword, n)
	case n > maxPassword:
		return fmt.Sprintf("a password has at most %d characters; this one has %d", maxPassword, n)
	case different(password) < fewest:
		return fmt.Sprintf("a password has at least %d different characters; this one has %d", fewest, different(password))
	}
	return ""
}

// different counts the different characters of a text.
func different(text string) int {
	seen := map[rune]bool{}
	for _, r := range text {
		seen[r] = true
	}
	return len(seen)
}

// newPassword reads the fields password and again of a form in which a password is chosen. Whether the password can be
// used is told by the form's faults.
func (f *form) newPassword() string {
	chosen := f.secret("password")
	if wrong := unfit(chosen); wrong != "" {
		f.addFault("password", "%s", sentence(wrong))
	} else if f.secret("again") != chosen {
		f.addFault("again", "This is not the same as the password above.")
	}
	return chosen
}
