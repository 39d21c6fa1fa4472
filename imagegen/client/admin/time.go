package admin

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/imagegend/imagegend/imagegen/internal/wire"
)

// Time is a time in JSON in the form that the API uses: UTC with three decimals, or null for the zero time. It reads
// what time.Time reads, and null.
type Time struct{ time.Time }

// MarshalJSON writes null for the zero time.
func (t Time) MarshalJSON() ([]byte, error) { return wire.Time(t.Time).MarshalJSON() }

// Day is a day in JSON, such as "2026-01-31", or null for none.
type Day struct{ time.Time }

// MarshalJSON writes null for the zero time.
func (d Day) MarshalJSON() ([]byte, error) {
	if d.IsZero() {
		return []byte("null"), nil
	}
	return []byte(`"` + d.UTC().Format(time.DateOnly) + `"`), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (d *Day) UnmarshalJSON(text []byte) (err error) {
	var day *string
	if err := json.Unmarshal(text, &day); err != nil || day == nil {
		return err
	}
	d.Time, err = ParseDay(*day)
	return err
}

// ParseDay reads a day as its midnight in UTC.
func ParseDay(s string) (time.Time, error) {
	day, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return day, fmt.Errorf("a day is such as 2026-01-31; got %.40q", s)
	}
	return day, nil
}
