// Package feed says which events follow from what a storage writes: from an entry of a journal, from a change of a
// record, and from an act on users and keys. These are written in one place of each storage, so nothing else has to
// remember the feed. It writes nothing itself.
package feed

import (
	"cmp"
	"crypto/rand"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

// ends are the states in which a record has ended, with the event of each.
var ends = map[imagegen.State]imagegen.FeedKind{imagegen.StateSucceeded: imagegen.FeedSucceeded,
	imagegen.StateFailed: imagegen.FeedFailed}

// OfRecord is the event of a record that to takes the place of from; false: there is none.
func OfRecord(from, to imagegen.Record, at time.Time) (imagegen.FeedEvent, bool) {
	e := begin("", at)
	e.User, e.Payer, e.Generation, e.Key, e.Model = to.User, to.Payer, to.ID, to.KeyID, to.Model
	charged := to.Charge().Credits
	switch {
	case !from.Visible() && to.Visible() && !to.Terminal():
		e.Kind, e.Images, e.Credits = imagegen.FeedAccepted, to.N, -charged
	case !from.Terminal() && to.Terminal():
		e.Kind, e.Images, e.Disputed = ends[to.State], to.Published, to.Dispute != ""
		if !e.Disputed {
			e.Credits = charged - to.Used()
		}
		if to.Failure != nil {
			e.Reason = to.Failure.Class.String()
		}
		if to.Cancelled() {
			e.Kind, e.Reason = imagegen.FeedCancelled, ""
		}
	case from.State != imagegen.StateErased && to.State == imagegen.StateErased:
		e.Kind = imagegen.FeedErased
	default:
		return e, false
	}
	return e, true
}

// entries are the kinds of entries that have an event of their own. Charges and settlements come with their
// generations.
var entries = map[imagegen.EntryKind]imagegen.FeedKind{imagegen.EntryGrant: imagegen.FeedGranted,
	imagegen.EntryRevoke: imagegen.FeedRevoked, imagegen.EntryExpire: imagegen.FeedExpired}

// OfEntry is the event of a journal entry; false: there is none.
func OfEntry(c *ledger.Change, at time.Time) (imagegen.FeedEvent, bool) {
	kind, some := entries[c.Entry.Kind]
	e := begin(kind, at)
	e.User, e.Credits, e.Balance, e.Ref = c.Entry.User, c.Entry.Credits, c.Entry.Balance, c.Entry.Ref
	return e, some && e.User != ""
}

// Fell is a balance that an entry has lowered.
type Fell struct {
	User     imagegen.UserID
	From, To imagegen.Credits
	At       time.Time
}

// FellBy returns how far an entry has lowered the balance; false: it has not.
func FellBy(c *ledger.Change, at time.Time) (Fell, bool) {
	f := Fell{c.Entry.User, c.From.Available, c.To.Available, at}
	return f, f.User != "" && f.To < f.From
}

// Low is the event of a balance that has fallen below an amount; false: it was below before, or is not.
func (f Fell) Low(below imagegen.Credits) (imagegen.FeedEvent, bool) {
	e := begin(imagegen.FeedLow, f.At)
	e.User, e.Balance, e.Below = f.User, f.To, below
	return e, f.To < below && below <= f.From
}

var acts = map[account.Act]imagegen.FeedKind{account.ActUserCreate: imagegen.FeedUserCreated,
	account.ActUserSuspend: imagegen.FeedUserSuspended, account.ActUserDisable: imagegen.FeedUserDisabled,
	account.ActKeyCreate: imagegen.FeedKeyCreated, account.ActKeyRevoke: imagegen.FeedKeyRevoked}

// OfAct is the event of an act that has changed something; false: there is none.
func OfAct(act account.Act, c trail.Change, at time.Time) (imagegen.FeedEvent, bool) {
	kind, some := acts[act]
	e := begin(kind, at)
	if e.User = c.User; e.Kind == imagegen.FeedKeyCreated || e.Kind == imagegen.FeedKeyRevoked {
		e.Key = imagegen.KeyID(c.Target)
	}
	return e, some && c != (trail.Change{})
}

// Alone is an event that follows from no commit, at a time.
func Alone(e imagegen.FeedEvent, at time.Time) imagegen.FeedEvent {
	e.Time = begin(e.Kind, at).Time
	return e
}

// NewID returns an identifier for an event that is written.
func NewID() string { return "evt_" + rand.Text() }

func begin(kind imagegen.FeedKind, at time.Time) imagegen.FeedEvent {
	return imagegen.FeedEvent{Kind: kind, Time: at.UTC().Truncate(time.Microsecond)}
}

// Next is the number behind last, given at a time.
func Next(last uint64, at time.Time) uint64 { return max(last+1, uint64(max(0, at.UnixMilli()))) }

// End is the place behind all events, where last is the number that was given last; 0: none was.
func End(last uint64, at time.Time) uint64 { return cmp.Or(last, Next(0, at)-1) }

// SamePlace reports whether the place that is kept is the one that was read; the zero FeedPlace: none is.
func SamePlace(kept, read imagegen.FeedPlace) bool {
	return kept.Reader == read.Reader && kept.Number == read.Number && kept.Tries == read.Tries &&
		kept.At.Equal(read.At)
}

// Lost is what a reader finds who has read up to after, where removed was the last to be removed; false: nothing that
// it has not read was.
func Lost(after, removed uint64, at time.Time) (imagegen.FeedEvent, bool) {
	e := begin(imagegen.FeedLost, at)
	e.Number, e.From, e.To = removed, after+1, removed
	return e, after != 0 && after < removed
}
