package admin

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// UsageQuery asks for the usage of a user, as [imagegen.UsageQuery] does.
type UsageQuery struct {
	User string                `json:"user"`
	From Day                   `json:"from"`
	To   Day                   `json:"to"`
	By   []imagegen.UsageGroup `json:"group_by"`
}

// UsageReport is the answer, in the form that the API uses.
type UsageReport struct {
	From Day                   `json:"from"`
	To   Day                   `json:"to"`
	By   []imagegen.UsageGroup `json:"group_by"`
	Rows []UsageRow            `json:"data"`
}

// UsageRow is one row of usage. Day, Model and Key are null unless the query groups by them.
type UsageRow struct {
	Day         Day              `json:"day"`
	Model       *string          `json:"model"`
	Key         *imagegen.KeyID  `json:"key"`
	Charged     imagegen.Credits `json:"credits_charged"`
	Refunded    imagegen.Credits `json:"credits_refunded"`
	Spent       imagegen.Credits `json:"credits_spent"`
	Images      int              `json:"images"`
	Generations int              `json:"generations"`
	Failed      int              `json:"failed"`
	Cancelled   int              `json:"cancelled"`
}

// viewUsage shows a report. Its lists are never nil, so that they are [] in JSON.
func viewUsage(r imagegen.UsageReport) UsageReport {
	return UsageReport{From: Day{r.From}, To: Day{r.To}, By: listed(r.By), Rows: each(r.Rows, viewUsageRow)}
}

// viewUsageRow shows a row. What the query does not group by is "" in r, and null in JSON.
func viewUsageRow(r imagegen.Usage) UsageRow {
	v := UsageRow{Day: Day{r.Day}, Charged: r.Charged, Refunded: r.Refunded, Spent: r.Spent, Images: r.Images, Generations: r.Generations, Failed: r.Failed, Cancelled: r.Cancelled}
	if r.Model != "" {
		v.Model = &r.Model
	}
	if r.Key != "" {
		v.Key = &r.Key
	}
	return v
}

// Day is a day in JSON, such as "2026-01-31", or null for none.
type Day struct{ time.Time }

// MarshalJSON writes null for the zero time.
func (d Day) MarshalJSON() ([]byte, error) {
	if d.IsZero() {
		return []byte("null"), nil
	}
	return []byte(`"` + d.Format(time.DateOnly) + `"`), nil
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
