package ledger

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// entryClock is a correction of the clock, which an operator confirmed. It is of the system's account,
// whose name is empty.
const entryClock imagegen.EntryKind = "clock"

// entry is one line of the journal: all that apply needs to know.
type entry struct {
	imagegen.Entry
	epoch uint64 // how often the clock had been corrected
	lines []line // the lots that it changes
	lots  []lot  // the lots that it makes
	hash  [sha256.Size]byte
}

// line moves credits within a lot. Which fields count depends on the entry's kind.
type line struct {
	lot   []byte           // key
	took  imagegen.Credits // charge, expire, revoke: out of Remaining; settle: out of Held
	back  imagegen.Credits // settle: of that, to Remaining
	moved imagegen.Credits // settle: of that, to a refund lot
}

func (e entry) subject() string { return fmt.Sprintf("entry %d", e.Seq) }

// check returns an imagegen.Violation unless the entry moves the credits that it says, and makes none.
func (e entry) check() error {
	var p account
	p.post(e)
	var granted, spent imagegen.Credits
	switch e.Kind {
	case imagegen.EntryGrant:
		granted = e.Credits
	case imagegen.EntrySettle:
		spent = e.Used
	}
	if !p.balanced() || p.Available != e.Credits || p.Granted != granted || p.Spent != spent || slices.ContainsFunc(e.lines, e.unsound) {
		return broken("postings", e.subject(), "a %s of %d, %d used, posts %+v", e.Kind, e.Credits, e.Used, p)
	}
	return nil
}

// unsound reports whether a line moves nothing, puts back what was not taken, or more than was.
func (e entry) unsound(l line) bool {
	return l.moves(e.Kind) == imagegen.Lot{} || l.took < 0 || l.back < 0 || l.moved < 0 || l.back > l.took-l.moved
}

const entryVersion = 1

// encode returns the entry as it is stored, without its hash.
func (e entry) encode() []byte {
	w := make(kv.Writer, 0, 192)
	w.Uint(entryVersion)
	w.Uint(e.Seq)
	w.Time(e.Time)
	w.Uint(e.epoch)
	w.String(string(e.Kind))
	w.String(string(e.User))
	w.String(string(e.Charge))
	w.String(e.Ref)
	w.String(e.Actor)
	w.Int(int64(e.Credits))
	w.Int(int64(e.Used))
	w.Int(int64(e.Balance))
	w.Uint(uint64(len(e.lines)))
	for _, l := range e.lines {
		w.Bytes(l.lot)
		w.Int(int64(l.took))
		w.Int(int64(l.back))
		w.Int(int64(l.moved))
	}
	w.Uint(uint64(len(e.lots)))
	for _, l := range e.lots {
		w.Bytes(l.encode())
	}
	return w
}

// decodeEntry reads a stored entry: its encoding with the hash behind it.
func decodeEntry(b []byte) (e entry, err error) {
	if len(b) < sha256.Size {
		return e, fmt.Errorf("ledger: a journal entry of %d bytes is too short", len(b))
	}
	body := b[:len(b)-sha256.Size]
	copy(e.hash[:], b[len(body):])
	r := kv.NewReader(body)
	if v := r.Uint(); v != entryVersion {
		return e, fmt.Errorf("ledger: a journal entry has the unknown version %d", v)
	}
	e.Seq, e.Time, e.epoch = r.Uint(), r.Time(), r.Uint()
	e.Kind, e.User, e.Charge, e.Ref = imagegen.EntryKind(r.String()), imagegen.UserID(r.String()), imagegen.ChargeID(r.String()), r.String()
	e.Actor = r.String()
	e.Credits, e.Used, e.Balance = imagegen.Credits(r.Int()), imagegen.Credits(r.Int()), imagegen.Credits(r.Int())
	for range r.Count() {
		e.lines = append(e.lines, line{r.Bytes(), imagegen.Credits(r.Int()), imagegen.Credits(r.Int()), imagegen.Credits(r.Int())})
	}
	for range r.Count() {
		l, err := decodeLot(r.Bytes())
		if err != nil {
			return e, err
		}
		e.lots = append(e.lots, l)
	}
	if err := r.Err(); err != nil {
		return e, fmt.Errorf("ledger: a journal entry cannot be read: %w", err)
	}
	return e, nil
}

// head is the end of the journal.
type head struct {
	seq   uint64
	hash  [sha256.Size]byte
	epoch uint64
	time  time.Time // the latest of this epoch
}

// then is the head behind one more entry. An imagegen.Violation: its epoch does not follow.
func (h head) then(e entry) (head, error) {
	next := head{e.Seq, e.hash, h.epoch, e.Time}
	if e.Kind == entryClock {
		next.epoch++
	} else if h.time.After(e.Time) {
		next.time = h.time
	}
	if e.epoch != next.epoch {
		return h, broken("journal epoch", e.subject(), "it is of epoch %d, and belongs to %d", e.epoch, next.epoch)
	}
	return next, nil
}

func readHead(tx kv.Tx) (h head) {
	b := tx.Get(headIs, only)
	if b == nil {
		return h
	}
	r := kv.NewReader(b)
	h.seq = r.Uint()
	r.Fixed(h.hash[:])
	h.epoch = r.Uint()
	h.time = r.Time()
	return h
}

func (h head) write(tx kv.Tx) {
	w := make(kv.Writer, 0, 56)
	w.Uint(h.seq)
	w.Fixed(h.hash[:])
	w.Uint(h.epoch)
	w.Time(h.time)
	tx.Put(headIs, only, w)
}
