package ledger

import (
	"strings"
	"unicode/utf8"

	"github.com/imagegend/imagegend/imagegen"
)

func checkAmount(c imagegen.Credits) error {
	if c.Valid() {
		return nil
	}
	return imagegen.Invalid("an amount of credits is from 1 to %d; got %d", imagegen.MaxCredits, c)
}

func checkCharge(id imagegen.ChargeID) error {
	if validID(string(id)) {
		return nil
	}
	return imagegen.Invalid("a charge's identifier is 1 to 255 bytes without NUL; got %q", id)
}

// checkBill checks what a charge is booked under.
func checkBill(c imagegen.Charge) error {
	if c.N < 0 || c.Model != "" && !validID(c.Model) || c.Key != "" && !validID(string(c.Key)) {
		return imagegen.Invalid("a charge names a model and a key of at most 255 bytes without NUL, and no number of images below 0; got %q, %q and %d", c.Model, c.Key, c.N)
	}
	return nil
}

func checkRef(ref string) error {
	if ref == "" || validID(ref) && utf8.ValidString(ref) {
		return nil
	}
	return imagegen.Invalid("a reference is at most 255 bytes of UTF-8 without NUL; got %q", ref)
}

// validID reports whether an identifier can stand in a key.
func validID(s string) bool { return s != "" && len(s) <= 255 && !strings.Contains(s, "\x00") }
