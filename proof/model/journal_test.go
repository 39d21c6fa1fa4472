package model_test

import (
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// enter writes a line of the journal. Call it when the lots are as they are to be.
func (b *books) enter(e imagegen.Entry) imagegen.Entry {
	e.Seq, e.Time = uint64(len(b.journal)+1), b.now
	for _, l := range b.lots {
		if e.User != "" && l.User == e.User {
			e.Balance += l.Remaining
		}
	}
	b.journal = append(b.journal, e)
	return e
}

// writeOff enters what a user has lost by now; it counts no more either way.
func (b *books) writeOff(u imagegen.UserID) {
	var lost imagegen.Credits
	for _, l := range b.of(u) {
		if b.lapsed(l) {
			lost += l.Remaining
			l.Expired, l.Remaining = l.Expired+l.Remaining, 0
		}
	}
	if lost > 0 {
		b.enter(imagegen.Entry{Kind: imagegen.EntryExpire, User: u, Credits: -lost})
	}
}

// history is a page of a user's entries, newest first.
func (b *books) history(u imagegen.UserID, before uint64, limit int) (page []imagegen.Entry) {
	for _, e := range slices.Backward(b.journal) {
		if e.User == u && (before == 0 || e.Seq < before) && len(page) < limit {
			page = append(page, e)
		}
	}
	return page
}

// upkeep is what the default storage does by itself each minute.
type upkeep struct {
	next time.Time // zero: it does none
	seen time.Time // the ledger's time that was written down last
}

const (
	upkeepEvery   = time.Minute
	rememberEvery = time.Hour
)

// opened begins the upkeep, and forgets what was not written down.
func (b *books) opened() {
	now := time.Now()
	b.upkeep.next = now.Add(upkeepEvery)
	b.clock.told = time.Time{}
	if n := len(b.journal); n > 0 {
		b.clock.set(b.journal[n-1].Time, now)
	}
	if b.upkeep.seen.After(b.clock.told) {
		b.clock.set(b.upkeep.seen, now)
	}
}

// catchUp does the upkeep that was due until a moment.
func (b *books) catchUp(until time.Time) {
	if b.upkeep.next.IsZero() {
		return
	}
	for ; !b.upkeep.next.After(until); b.upkeep.next = b.upkeep.next.Add(upkeepEvery) {
		b.now = b.clock.now(b.upkeep.next)
		for _, u := range b.users() {
			b.writeOff(u)
		}
		if b.now.Sub(b.upkeep.seen) >= rememberEvery {
			b.upkeep.seen = b.now
		}
	}
}

func (b *books) users() (users []imagegen.UserID) {
	for _, l := range b.lots {
		users = append(users, l.User)
	}
	slices.Sort(users)
	return slices.Compact(users)
}

// confirmClock believes the wall clock.
func (b *books) confirmClock() {
	b.look(time.Now())
	now := time.Now()
	if !b.clock.doubtful(now) {
		return
	}
	b.clock.set(b.clock.wall(now), now)
	b.now = b.clock.told
	b.enter(imagegen.Entry{Kind: "clock"})
}
