package ledger

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// entryClock is the kind of an entry that records a correction of the clock, which an operator confirmed. It stands
// in the system's journal, and raises the epoch.
const entryClock imagegen.EntryKind = "clock"

// Entry is one entry of the journal. All rows follow from the entries, so an entry holds every decision: which
// lots credits come from is not decided again in a replay.
type Entry struct {
	imagegen.Entry
	Epoch    uint64            // how often the clock had been corrected
	Charged  time.Time         // settle: when the charge was made
	Postings []Posting         // to lots that exist
	Lots     []NewLot          // that the entry makes
	Encoded  []byte            // all of the above, as it was first written
	Hash     [sha256.Size]byte // of that and, through its hash, of the user's entries before it
}

// Posting moves credits within a lot. Which fields count depends on the entry's kind.
type Posting struct {
	Lot   uint64           // by its number
	Took  imagegen.Credits // charge, expire, revoke: out of Remaining; settle: out of Held
	Back  imagegen.Credits // settle: of that, to Remaining
	Moved imagegen.Credits // settle: of that, to a refund lot
}

// NewLot is a lot that an entry makes: for a grant, or as a refund lot, for credits whose own lot has expired.
type NewLot struct {
	Number   uint64
	Credits  imagegen.Credits
	Promo    bool
	Priority int
	Expires  time.Time // zero: never
}

// place is where the entry is: its user and its sequence number.
func (e Entry) place() Place { return Place{e.User, e.Seq} }

// subject names the entry in errors and violations.
func (e Entry) subject() string { return e.place().subject() }

func (p Place) subject() string { return fmt.Sprintf("entry %d of %q", p.Seq, p.User) }

// makes returns a lot as the entry makes it. What a settlement makes is a refund lot.
func (e Entry) makes(n NewLot) Lot {
	return Lot{Number: n.Number, Refund: e.Kind == imagegen.EntrySettle, Lot: imagegen.Lot{User: e.User,
		Granted: n.Credits, Remaining: n.Credits, Promo: n.Promo, Priority: n.Priority, Effective: e.Time,
		Expires: n.Expires, Ref: e.Ref}}
}

// moves is what a posting adds to each field of its lot. The sum of these changes is zero.
func (p Posting) moves(kind imagegen.EntryKind) (change imagegen.Lot) {
	switch kind {
	case imagegen.EntryCharge:
		change.Remaining, change.Held = -p.Took, p.Took
	case imagegen.EntryExpire:
		change.Remaining, change.Expired = -p.Took, p.Took
	case imagegen.EntryRevoke:
		change.Remaining, change.Revoked = -p.Took, p.Took
	case imagegen.EntrySettle:
		change.Held, change.Remaining, change.Moved = -p.Took, p.Back, p.Moved
		change.Spent = p.Took - p.Back - p.Moved
	}
	return change
}

// checkPostings returns an imagegen.Violation unless the entry's postings come to the amounts that it names, and create
// no credits unless it is a grant.
func (e Entry) checkPostings() error {
	var t Totals
	t.post(e)
	var granted, spent imagegen.Credits
	switch e.Kind {
	case imagegen.EntryGrant:
		granted = e.Credits
	case imagegen.EntrySettle:
		spent = e.Used
	}
	if !t.balanced() || t.Available != e.Credits || t.Granted != granted || t.Spent != spent ||
		slices.ContainsFunc(e.Postings, e.unsound) {
		return broken("postings", e.subject(), "a %s of %d, %d used, posts %+v", e.Kind, e.Credits, e.Used, t)
	}
	return nil
}

// unsound reports whether a posting moves nothing, puts back what was not taken, or more than was.
func (e Entry) unsound(p Posting) bool {
	return p.moves(e.Kind) == imagegen.Lot{} || p.Took < 0 || p.Back < 0 || p.Moved < 0 || p.Back > p.Took-p.Moved
}

// Stored is the entry in bytes: its encoding with its hash behind it, see DecodeEntry.
func (e Entry) Stored() []byte {
	return append(e.Encoded[:len(e.Encoded):len(e.Encoded)], e.Hash[:]...)
}

// Encode returns the entry with its encoding, which follows from its fields.
func (e Entry) Encode() Entry {
	e.Encoded = kv.Encode(&e, entryForm)
	return e
}

// DecodeEntry reads a stored entry. The entry's Encoded is part of stored, which must not be changed after that. It
// does not verify the hash; Entry.follows does.
func DecodeEntry(stored []byte) (e Entry, err error) {
	n := len(stored) - sha256.Size
	if n < 0 {
		return e, fmt.Errorf("ledger: a journal entry of %d bytes is too short", len(stored))
	}
	e.Encoded, e.Hash = stored[:n], [sha256.Size]byte(stored[n:])
	if err := kv.Decode(e.Encoded, &e, entryForm); err != nil {
		return e, fmt.Errorf("ledger: a journal entry cannot be read: %w", err)
	}
	return e, nil
}

// entryForm is the encoding of an entry. The chain hashes these bytes, so what an old
// version encoded must always be encoded, and decoded, in the same way.
func entryForm(c *kv.Coder, e *Entry) {
	c.Version(1)
	kv.Number(c, &e.Seq)
	kv.Moment(c, &e.Time)
	kv.Number(c, &e.Epoch)
	kv.Text(c, &e.Kind)
	kv.Text(c, &e.User)
	kv.Text(c, &e.Charge)
	kv.Text(c, &e.Ref)
	kv.Text(c, &e.Actor)
	kv.Number(c, &e.Credits)
	kv.Number(c, &e.Used)
	kv.Number(c, &e.Balance)
	kv.Text(c, &e.Model)
	kv.Text(c, &e.Key)
	kv.Number(c, &e.Images)
	kv.Moment(c, &e.Charged)
	kv.List(c, &e.Postings, PostingForm)
	kv.List(c, &e.Lots, func(c *kv.Coder, l *NewLot) {
		kv.Number(c, &l.Number)
		kv.Number(c, &l.Credits)
		kv.Flag(c, &l.Promo)
		kv.Number(c, &l.Priority)
		kv.Moment(c, &l.Expires)
	})
	kv.Flag(c, &e.Cancelled)
	kv.Text(c, &e.Member)
}

// PostingForm is how a posting is kept.
func PostingForm(c *kv.Coder, p *Posting) {
	kv.Number(c, &p.Lot)
	kv.Number(c, &p.Took)
	kv.Number(c, &p.Back)
	kv.Number(c, &p.Moved)
}
