package admin

import (
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

var (
	// GrantCredits adds credits as one lot, only once for each Ref, however often it is called. A Ref that was used for
	// another user, amount or other terms is an error, over HTTP with status 409.
	GrantCredits = Call[Grant, Granted]{Name: "grant", Scope: account.ScopeCredits, Ref: func(g *Grant) *string {
		return &g.Ref
	}}
	// RevokeCredits takes unspent credits back, only once for each Ref, as GrantCredits does.
	RevokeCredits = Call[Revocation, Revoked]{Name: "revoke", Scope: account.ScopeCredits,
		Ref: func(r *Revocation) *string { return &r.Ref }}
	// ListLots lists the lots of the user with this name that have credits, or hold some for open charges, in the order
	// in which they are consumed.
	ListLots = Call[string, []Lot]{Name: "lots", Scope: account.ScopeRead}
	// ListEntries lists what changed a user's credits, newest first.
	ListEntries = Call[HistoryPage, []Entry]{Name: "history", Scope: account.ScopeRead}
	// SumUsage sums up what a user was charged, by day, model and key, or by member.
	SumUsage = Call[UsageQuery, UsageReport]{Name: "usage", Scope: account.ScopeRead}
)

// Grant adds credits to the account of a user, as one lot.
type Grant struct {
	User     string           `json:"user"`    // the name
	Credits  imagegen.Credits `json:"credits"` // 1 to imagegen.MaxCredits
	Promo    bool             `json:"promo"`
	Priority int              `json:"priority"`   // 1 to 100, lower is consumed first; 0: imagegen.DefaultPriority
	Expires  Time             `json:"expires_at"` // zero: never
	// Ref names the reason, such as the event of a payment. It is required over HTTP; without it nothing protects
	// against a repetition.
	Ref string `json:"ref"`
}

// Granted is the lot that a grant made, or that already existed under its reference, and the present balance.
type Granted struct {
	Lot      Lot              `json:"lot"`
	Balance  imagegen.Credits `json:"balance"`
	Repeated bool             `json:"repeated"` // the reference was used before: nothing was changed
}

// Revocation takes unspent credits back from a user: all of Credits, or none.
type Revocation struct {
	User    string           `json:"user"` // the name
	Credits imagegen.Credits `json:"credits"`
	Lot     string           `json:"lot"` // only from the lot with this ID; "": in the order in which lots are consumed
	Ref     string           `json:"ref"` // as in Grant
}

// Revoked is the entry that a revocation made, or that already existed under its reference. Its Balance is the
// present one.
type Revoked struct {
	Entry
	Repeated bool `json:"repeated"` // the reference was used before: nothing was changed
}

// Lot is a number of credits that were granted together.
type Lot struct {
	ID string `json:"id"`
	// What was granted; of that, what can be spent, and what open charges hold. The rest was spent or revoked, or has
	// expired.
	Granted   imagegen.Credits `json:"granted"`
	Remaining imagegen.Credits `json:"remaining"`
	Held      imagegen.Credits `json:"held"`
	Promo     bool             `json:"promo"`
	Priority  int              `json:"priority"`
	CreatedAt Time             `json:"created_at"`
	ExpiresAt Time             `json:"expires_at"` // zero: never
	Ref       string           `json:"ref"`        // of the grant
}

// HistoryPage asks for up to Limit entries, at least 1, before a sequence number; the newest if that is 0.
type HistoryPage struct {
	User   string `json:"user"` // the name
	Before uint64 `json:"before"`
	Limit  int    `json:"limit"`
}

// Entry is one line of the journal.
type Entry struct {
	Seq        uint64             `json:"seq"`
	Time       Time               `json:"time"`
	Kind       imagegen.EntryKind `json:"kind"`
	Credits    imagegen.Credits   `json:"credits"` // change of the balance
	Used       imagegen.Credits   `json:"used"`
	Balance    imagegen.Credits   `json:"balance"` // after this entry
	Generation imagegen.ChargeID  `json:"generation"`
	Ref        string             `json:"ref"`
	Actor      string             `json:"actor"`            // who granted or revoked, as the audit trail writes it
	Member     string             `json:"member,omitempty"` // the name of who asked; "": the user paid for itself
}

// UsageQuery asks for the usage of a user, as [imagegen.UsageQuery] does.
type UsageQuery struct {
	User string                `json:"user"` // the name
	From Day                   `json:"from"`
	To   Day                   `json:"to"`
	By   []imagegen.UsageGroup `json:"group_by"`

	Member string `json:"member,omitempty"` // the name of a member: only what the user paid for this one
}

// UsageReport is the answer, in the form that the API uses.
type UsageReport struct {
	From Day                   `json:"from"`
	To   Day                   `json:"to"`
	By   []imagegen.UsageGroup `json:"group_by"`
	Rows []UsageRow            `json:"data"`
}

// UsageRow is one row of usage. Day is zero, and Model and Key are nil, unless the query groups by them; Key is also
// nil for what was asked for without one.
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

	// Member is the name of a member for whom the user paid; nil unless the query groups by member, and for the user.
	Member *string `json:"member,omitempty"`
}
