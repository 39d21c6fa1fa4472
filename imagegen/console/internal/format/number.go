// Package format writes amounts, times and texts in the way in which the pages of the console show them.
package format

import (
	"fmt"
	"reflect"
	"strconv"

	"github.com/imagegend/imagegend/imagegen"
)

// Credits formats an amount with separators: 12,345.
func Credits(n imagegen.Credits) string { return Integer(int64(n)) }

// Amount formats an amount with its unit: 12,345 credits.
func Amount(n imagegen.Credits) string { return Credits(n) + " " + Plural(n, "credit", "credits") }

// Number is Credits for any signed integer, whatever its type; it panics on other values.
func Number(n any) string { return Integer(reflect.ValueOf(n).Int()) }

// Integer uses U+2212 for a minus, which is as wide as a plus.
func Integer(n int64) string {
	digits, sign := strconv.FormatInt(n, 10), ""
	if n < 0 {
		digits, sign = digits[1:], "\u2212"
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// Plural chooses the word that fits a number: 1 image, 2 images. It accepts any signed integer.
func Plural(n any, one, many string) string {
	if v := reflect.ValueOf(n); v.CanInt() && v.Int() == 1 {
		return one
	}
	return many
}

// Count formats a number with the word that fits it.
func Count(n int, one, many string) string { return strconv.Itoa(n) + " " + Plural(n, one, many) }

// Share formats a part of a whole in percent; a dash if the whole is nothing.
func Share(part, whole int) string {
	if whole == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}

// Bytes formats a number of bytes in the unit that fits.
func Bytes(n int64) string {
	const unit = 1 << 10
	value, names := float64(n), "KMGTPE"
	if n < unit {
		return fmt.Sprintf("%d bytes", n)
	}
	i := -1
	for value >= unit {
		value /= unit
		i++
	}
	return fmt.Sprintf("%.1f %ciB", value, names[i])
}
