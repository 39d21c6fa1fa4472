package console

import (
	"cmp"
	"context"
	"errors"

	"github.com/imagegend/imagegend/imagegen"
)

// ledgerPage is how many rows of the ledger the credits page shows at once.
const ledgerPage = 20

// ledgerBatch is how many entries are read at once: most generations have two.
const ledgerBatch = 2*ledgerPage + 1

// ledgerLine is a row of the ledger: a generation, which stands where it was settled, or another entry.
type ledgerLine struct {
	imagegen.Entry
	Generation *imagegen.Record // that was charged for; nil: none, or it is erased
	whole      bool             // the row tells of the charge and of its settlement
}

// ledgerLines are the rows of a page, and the number of the entry before which the next begins; 0: there is none.
func (c *Console) ledgerLines(ctx context.Context, u imagegen.UserID, before uint64) (lines []ledgerLine, next uint64, err error) {
	settled := map[imagegen.ChargeID]bool{}
	for at := before; ; {
		entries, err := c.cfg.Ledger.History(ctx, u, at, ledgerBatch)
		if err != nil {
			return nil, 0, err
		}
		for _, e := range entries {
			l, shown, err := c.ledgerLine(ctx, u, e, before > 0, settled)
			if err != nil {
				return nil, 0, err
			}
			if !shown {
				continue
			}
			if len(lines) == ledgerPage {
				return lines, lines[ledgerPage-1].Seq, nil
			}
			lines = append(lines, l)
		}
		if len(entries) < ledgerBatch {
			return lines, 0, nil
		}
		at = entries[ledgerBatch-1].Seq
	}
}

// ledgerLine is the row of an entry, unless that is told elsewhere: the charge of a generation is where its
// settlement stands. later: newer entries may be on pages before. settled are those seen.
func (c *Console) ledgerLine(ctx context.Context, u imagegen.UserID, e imagegen.Entry, later bool, settled map[imagegen.ChargeID]bool) (l ledgerLine, shown bool, err error) {
	l = ledgerLine{Entry: e}
	if e.Charge == "" || e.Kind == imagegen.EntryCharge && settled[e.Charge] {
		return l, e.Charge == "", nil
	}
	var ended bool
	if l.Generation, ended, err = c.charged(ctx, u, e.Charge); err != nil {
		return l, false, err
	}
	switch {
	case e.Kind == imagegen.EntryCharge:
		return l, !later || !ended, nil
	case l.Generation == nil && !ended: // of no generation of this user
		return l, e.Credits != 0, nil
	}
	l.whole, settled[e.Charge] = true, true
	return l, true, nil
}

// charged is the user's generation that a charge is for; nil if there is none, or it is erased. ended: there
// is one that has ended.
func (c *Console) charged(ctx context.Context, u imagegen.UserID, id imagegen.ChargeID) (r *imagegen.Record, ended bool, err error) {
	g := imagegen.GenerationID(id)
	if !g.Valid() {
		return nil, false, nil
	}
	found, err := c.cfg.Engine.As(u).Record(ctx, g)
	if err != nil {
		gone := errors.Is(err, imagegen.ErrNotFound)
		if gone {
			err = nil
		}
		return nil, gone, err
	}
	return &found, found.Terminal(), nil
}

// Title says in a word what happened.
func (l ledgerLine) Title() string {
	switch l.Kind {
	case imagegen.EntryGrant:
		return "Granted"
	case imagegen.EntryCharge:
		return "Charged"
	case imagegen.EntryExpire:
		return "Expired"
	case imagegen.EntryRevoke:
		return "Taken back"
	}
	switch {
	case l.Refunded() == 0:
		return "Spent"
	case l.Used == 0:
		return "Refunded"
	}
	return "Partly refunded"
}

// Settled reports whether the row says what became of a charge.
func (l ledgerLine) Settled() bool { return l.Kind == imagegen.EntrySettle }

// Charged is what a settled charge took at first.
func (l ledgerLine) Charged() imagegen.Credits { return l.Used + l.Credits }

// Refunded is what came back of it.
func (l ledgerLine) Refunded() imagegen.Credits { return l.Credits }

// Prompt is the beginning of what was asked for, as long as that is kept.
func (l ledgerLine) Prompt() string {
	return cmp.Or(excerpt(l.Generation.Prompt, 80), "(prompt no longer kept)")
}

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

// Change is what all that the row tells of did to the balance.
func (l ledgerLine) Change() imagegen.Credits {
	if l.whole {
		return -l.Used
	}
	return l.Credits
}

// Amount is Change with its sign.
func (l ledgerLine) Amount() string {
	if l.Change() > 0 {
		return "+" + credits(l.Change())
	}
	return credits(l.Change())
}

// Reason is the reference of a grant, or of what was taken back.
func (l ledgerLine) Reason() string { return reference(l.Ref) }
