package form

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/format"
)

// wholeNumber matches digits, with commas only as separators of thousands: 1,5 does not mean fifteen.
var wholeNumber = regexp.MustCompile(`^(\d+|\d{1,3}(,\d{3})+)$`)

// Credits reads a number of credits. If that is not a valid amount, the field has a fault.
func (f *Form) Credits(name string) imagegen.Credits {
	written := f.Value(name)
	n, err := strconv.ParseInt(strings.ReplaceAll(written, ",", ""), 10, 64)
	if err != nil || !wholeNumber.MatchString(written) || !imagegen.Credits(n).Valid() {
		f.AddFault(name, "Enter a whole number of credits, from 1 to %s.", format.Credits(imagegen.MaxCredits))
	}
	return imagegen.Credits(n)
}

// LastDay reads a day that is not over yet, and returns the midnight with which it ends, in UTC; zero if none was
// entered.
func (f *Form) LastDay(name string, now time.Time) time.Time {
	const never = 2200 // beyond it one may as well enter no day; the ledger cannot keep the year 2263
	if f.Value(name) == "" {
		return time.Time{}
	}
	day, err := time.Parse(time.DateOnly, f.Value(name))
	end := day.AddDate(0, 0, 1)
	if err != nil || !end.After(now) || end.Year() > never {
		f.AddFault(name, "Enter a day that is not over, such as %d-12-31.", now.Year()+1)
	}
	return end
}
