package wire

import (
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// UsageReport is what was charged on a range of days.
type UsageReport struct {
	Object  string                `json:"object"`
	From    string                `json:"from"`
	To      string                `json:"to"`
	GroupBy []imagegen.UsageGroup `json:"group_by"`
	Data    []UsageRow            `json:"data"`
}

// UsageRow is one row of a report. A column by which the report does not group is null, and so is the key
// of what was asked for without one.
type UsageRow struct {
	Day             *string          `json:"day"`
	Model           *string          `json:"model"`
	Key             *imagegen.KeyID  `json:"key"`
	CreditsCharged  imagegen.Credits `json:"credits_charged"`
	CreditsRefunded imagegen.Credits `json:"credits_refunded"`
	CreditsSpent    imagegen.Credits `json:"credits_spent"`
	Images          int              `json:"images"`
	Generations     int              `json:"generations"`
	Failed          int              `json:"failed"`
	Cancelled       int              `json:"cancelled"`

	Member string `json:"member,omitempty"` // the name; only if grouped by member, and not of the user's own
}

// NewUsageReport converts.
func NewUsageReport(r imagegen.UsageReport) UsageReport {
	w := UsageReport{Object: "usage", From: r.From.Format(time.DateOnly), To: r.To.Format(time.DateOnly),
		GroupBy: append([]imagegen.UsageGroup{}, r.By...), Data: make([]UsageRow, len(r.Rows))}
	for i, row := range r.Rows {
		w.Data[i] = newUsageRow(row)
	}
	return w
}

// newUsageRow converts.
func newUsageRow(r imagegen.Usage) UsageRow {
	w := UsageRow{CreditsCharged: r.Charged, CreditsRefunded: r.Refunded, CreditsSpent: r.Spent,
		Images: r.Images, Generations: r.Generations, Failed: r.Failed, Cancelled: r.Cancelled,
		Member: r.MemberName}
	if !r.Day.IsZero() {
		day := r.Day.Format(time.DateOnly)
		w.Day = &day
	}
	if r.Model != "" {
		w.Model = &r.Model
	}
	if r.Key != "" {
		w.Key = &r.Key
	}
	return w
}

// Value converts back. An error means that the body is not one of this interface.
func (w UsageReport) Value() (r imagegen.UsageReport, err error) {
	if r.From, err = time.Parse(time.DateOnly, w.From); err != nil {
		return r, err
	}
	if r.To, err = time.Parse(time.DateOnly, w.To); err != nil {
		return r, err
	}
	if len(w.GroupBy) > 0 {
		r.By = w.GroupBy
	}
	r.Rows = make([]imagegen.Usage, len(w.Data))
	for i, row := range w.Data {
		if r.Rows[i], err = row.value(); err != nil {
			return r, err
		}
	}
	return r, nil
}

func (w UsageRow) value() (r imagegen.Usage, err error) {
	r.UsageSums = imagegen.UsageSums{Charged: w.CreditsCharged, Refunded: w.CreditsRefunded, Spent: w.CreditsSpent,
		Images: w.Images, Generations: w.Generations, Failed: w.Failed, Cancelled: w.Cancelled}
	r.MemberName = w.Member
	if w.Model != nil {
		r.Model = *w.Model
	}
	if w.Key != nil {
		r.Key = *w.Key
	}
	if w.Day != nil {
		r.Day, err = time.Parse(time.DateOnly, *w.Day)
	}
	return r, err
}

// Check implements Body.
func (w UsageReport) Check() error { return is(w.Object, "usage") }
