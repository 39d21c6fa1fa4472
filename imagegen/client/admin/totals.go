package admin

import (
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// SumTotals sums up the generations of all users, by day, model, payer, user and key: what they brought in and what
// they cost upstream.
var SumTotals = Call[TotalsQuery, TotalsReport]{Name: "totals", Scope: account.ScopeRead}

// TotalsQuery asks for totals as [imagegen.UsageQuery] does. By can also contain imagegen.UsageByUser
// and imagegen.UsageByPayer.
type TotalsQuery struct {
	From Day                   `json:"from"`
	To   Day                   `json:"to"`
	By   []imagegen.UsageGroup `json:"group_by"`
}

// TotalsReport is the answer.
type TotalsReport struct {
	From        Day                   `json:"from"`
	To          Day                   `json:"to"`
	By          []imagegen.UsageGroup `json:"group_by"`
	Currency    string                `json:"currency"`     // of all amounts; "": no server has answered
	CreditValue Money                 `json:"credit_value"` // what one credit is worth; 0: it is not known
	Rows        []TotalsRow           `json:"data"`
}

// TotalsRow is one row of totals. Day is zero, and Model, Payer, User and Key are nil, unless the query groups by them;
// Key is also nil for generations without a key. A generation counts on the day on which it was accepted.
type TotalsRow struct {
	Day         Day              `json:"day"`
	Model       *string          `json:"model"`
	Payer       *string          `json:"payer"` // as User: whose credits were spent, the user's own or its sponsor's
	User        *string          `json:"user"`  // the name; the identifier, if no such user is known
	Key         *imagegen.KeyID  `json:"key"`
	Generations int              `json:"generations"` // that have ended
	Images      int              `json:"images"`      // that were paid for
	Spent       imagegen.Credits `json:"credits_spent"`
	Revenue     *Money           `json:"revenue"` // what Spent is worth; nil: the value of a credit is not known
	Cost        Money            `json:"cost"`    // of the attempts of which it is known
	Margin      *Money           `json:"margin"`  // Revenue less Cost
	Attempts    int              `json:"attempts"`
	Unknown     int              `json:"unknown"` // of Attempts, those of which it is not known what they cost
}

// Evaluate fills in the revenue and the margin of each row by the report's CreditValue.
func (r *TotalsReport) Evaluate() {
	for i := range r.Rows {
		row := &r.Rows[i]
		row.Revenue, row.Margin = nil, nil
		if r.CreditValue.Micros > 0 {
			t := imagegen.Totals{Spent: row.Spent, Cost: row.Cost.Micros}
			revenue, margin := t.Earned(r.CreditValue.Micros)
			row.Revenue, row.Margin = &Money{revenue}, &Money{margin}
		}
	}
}

// Money is an amount of the operator's currency. In JSON it is a text such as "-0.04", since many languages would read
// a number as a float.
type Money struct{ imagegen.Micros }

// MarshalText writes a decimal number.
func (m Money) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (m *Money) UnmarshalText(text []byte) (err error) {
	amount, negative := strings.CutPrefix(string(text), "-")
	if m.Micros, err = imagegen.ParseMicros(amount); negative {
		m.Micros = -m.Micros
	}
	return err
}
