package credits

import (
	"cmp"
	"errors"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
	"github.com/imagegend/imagegend/imagegen/console/internal/steps"
)

// ledgerPage is how many rows a page of the ledger has.
const ledgerPage = 20

// ledgerBatch is how many entries are read at once. Most generations have two, a charge and a settlement, so one
// batch is mostly enough for a page.
const ledgerBatch = 2*ledgerPage + 1

// ledgerLine is a row of the ledger. A generation has one row for charge and settlement together, at the place of the
// settlement or, until there is one, of the charge. Every other entry has a row of its own.
type ledgerLine struct {
	imagegen.Entry
	Generation *imagegen.Record // the generation that was charged for; nil: there is none, it is erased, or a member's
	For        string           // the name of the member who asked; "": nobody but the user
	whole      bool             // the row stands for charge and settlement
}

// ledgerLines returns the rows of a page, newest first, of the entries before a number (0: from the newest). next is
// the number for the next page; 0: there is none.
func ledgerLines(p *frame.Page, u imagegen.UserID, before uint64) (lines []ledgerLine, next uint64, err error) {
	// The journal is read backwards, so a settlement comes before its charge. A page may take several batches, since
	// charges whose settlement was seen have no row. It is complete when there is one row more than fits, which is
	// not returned.
	settled := map[imagegen.ChargeID]bool{}
	for at := before; ; {
		entries, err := p.Ledger.History(p.Context(), u, at, ledgerBatch)
		if err != nil {
			return nil, 0, err
		}
		for _, e := range entries {
			l, shown, err := newLedgerLine(p, u, e, before > 0, settled)
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

// newLedgerLine returns the row of an entry; shown is false if the entry has none, because it is a charge whose
// settlement has the row. settled holds the charges whose settlement was on this page, and is added to. later says
// that there are newer entries on other pages: then a charge whose generation has ended has its row on one of those.
func newLedgerLine(p *frame.Page, u imagegen.UserID, e imagegen.Entry, later bool,
	settled map[imagegen.ChargeID]bool) (l ledgerLine, shown bool, err error) {
	l = ledgerLine{Entry: e}
	if e.Charge == "" || e.Kind == imagegen.EntryCharge && settled[e.Charge] {
		return l, e.Charge == "", nil
	}
	var ended bool
	if e.Member != "" {
		u = e.Member
	}
	if l.Generation, ended, err = chargedGeneration(p, u, e.Charge); err != nil {
		return l, false, err
	}
	if e.Member != "" {
		l.For, l.Generation = cmp.Or(p.UserName(e.Member), string(e.Member)), nil // what it asked for is not shown
	}
	switch {
	case e.Kind == imagegen.EntryCharge:
		return l, !later || !ended, nil
	case l.Generation == nil && !ended:
		// No generation of this user: the charge has its own row, the settlement only if it gave something back.
		return l, e.Credits != 0, nil
	}
	l.whole, settled[e.Charge] = true, true
	return l, true, nil
}

// chargedGeneration returns the user's generation that a charge is for; nil if there is none, or it is erased. ended
// says that the charge belongs to a generation that has ended; an erased one has.
func chargedGeneration(p *frame.Page, u imagegen.UserID,
	id imagegen.ChargeID) (r *imagegen.Record, ended bool, err error) {
	g := imagegen.GenerationID(id)
	if !g.Valid() {
		return nil, false, nil
	}
	found, err := p.Engine.As(u).Record(p.Context(), g)
	if err != nil {
		gone := errors.Is(err, imagegen.ErrNotFound)
		if gone {
			err = nil
		}
		return nil, gone, err
	}
	return &found, found.Terminal(), nil
}

// Title says what happened, in a word or two.
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
	case l.Credits == 0:
		return "Spent"
	case l.Used == 0:
		return "Refunded"
	}
	return "Partly refunded"
}

// Charged is what a settled charge took at first: what was spent, and what the settlement gave back, its Credits.
func (l ledgerLine) Charged() imagegen.Credits { return l.Used + l.Credits }

// Why says why credits came back; "" if none did, or the generation is erased.
func (l ledgerLine) Why() string {
	if l.Generation == nil || l.Credits == 0 {
		return ""
	}
	for _, s := range steps.Ending(*l.Generation) {
		if s.Kind != "done" {
			return s.Why
		}
	}
	return ""
}

// Change is what the entries of the row did to the balance together.
func (l ledgerLine) Change() imagegen.Credits {
	if l.whole {
		return -l.Used
	}
	return l.Credits
}
