package console

import (
	"context"
	"errors"

	"github.com/imagegend/imagegend/imagegen"
)

// ledgerPage is how many entries the credits page shows at once.
const ledgerPage = 50

// ledgerLine is an entry of the ledger as it is shown.
type ledgerLine struct {
	imagegen.Entry
	Generation *imagegen.Record // that was charged for; nil: none, or it is erased
}

// ledgerLines adds to entries what is known of the generations that they are about.
func (c *Console) ledgerLines(ctx context.Context, u imagegen.UserID, entries []imagegen.Entry) ([]ledgerLine, error) {
	lines := make([]ledgerLine, len(entries))
	known := map[imagegen.ChargeID]*imagegen.Record{} // a charge and its settlement often stand on one page
	for i, e := range entries {
		r, ok := known[e.Charge]
		if !ok && e.Charge != "" {
			var err error
			if r, err = c.charged(ctx, u, e.Charge); err != nil {
				return nil, err
			}
			known[e.Charge] = r
		}
		lines[i] = ledgerLine{e, r}
	}
	return lines, nil
}

// charged is the user's generation that a charge is for; nil if there is none, or it is erased.
func (c *Console) charged(ctx context.Context, u imagegen.UserID, id imagegen.ChargeID) (*imagegen.Record, error) {
	g := imagegen.GenerationID(id)
	if !g.Valid() {
		return nil, nil
	}
	r, err := c.cfg.Engine.Record(ctx, g)
	if errors.Is(err, imagegen.ErrNotFound) || err == nil && r.User != u {
		return nil, nil
	}
	return &r, err
}

// Title says in a word what happened.
func (l ledgerLine) Title() string {
	switch l.Kind {
	case imagegen.EntryGrant:
		return "Granted"
	case imagegen.EntryCharge:
		return "Charged"
	case imagegen.EntryExpire:
		return "Lapsed"
	case imagegen.EntryRevoke:
		return "Taken back"
	}
	if l.Refunded() > 0 {
		return "Refunded"
	}
	return "Settled"
}

// Settled reports whether the entry says what became of a charge.
func (l ledgerLine) Settled() bool { return l.Kind == imagegen.EntrySettle }

// Charged is what a settled charge took at first.
func (l ledgerLine) Charged() imagegen.Credits { return l.Used + l.Credits }

// Refunded is what came back of it.
func (l ledgerLine) Refunded() imagegen.Credits { return l.Credits }

// Prompt is the beginning of what was asked for.
func (l ledgerLine) Prompt() string { return excerpt(l.Generation.Prompt, 80) }

// Request says what was asked for, and at which price.
func (l ledgerLine) Request() string {
	r := l.Generation
	return count(r.N, "image", "images") + " of " + r.Model + " in " + string(r.Tier) + " at " + inCredits(r.Price) + " each."
}

// Open reports whether the generation goes on.
func (l ledgerLine) Open() bool { return l.Generation != nil && !l.Generation.Terminal() }

// Why is why credits came back; "" if none did, or nobody knows any more.
func (l ledgerLine) Why() string {
	if l.Generation == nil || l.Refunded() == 0 {
		return ""
	}
	for _, s := range ending(*l.Generation) {
		if s.Kind != "done" {
			return s.Why
		}
	}
	return ""
}

// Amount is what the entry did to the balance, with its sign.
func (l ledgerLine) Amount() string {
	if l.Credits > 0 {
		return "+" + credits(l.Credits)
	}
	return credits(l.Credits)
}

// Reason is the reference of a grant, or of what was taken back.
func (l ledgerLine) Reason() string { return reference(l.Ref) }
