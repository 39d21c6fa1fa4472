package model_test

import (
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// enter writes a line of the journal. Call it when the lots are as they are to be.
func (b *books) enter(e imagegen.Entry) imagegen.Entry {
	e.Seq, e.Time = 1, b.date(e.User)
	for _, former := range b.journal {
		if former.User == e.User {
			e.Seq++
		}
	}
	if e.User != "" {
		b.dates[e.User] = e.Time
	}
	for _, l := range b.lots {
		if e.User != "" && l.User == e.User {
			e.Balance += l.Remaining
		}
	}
	b.journal = append(b.journal, e)
	if b.doubt && !b.outside { // both outlast the process
		b.clock.written = later(b.clock.written, e.Time)
		b.note()
	}
	return e
}

// date is the time of a user's next entry: the wall clock's, though never before the user's last since
// the clock was corrected; in whole microseconds.
func (b *books) date(u imagegen.UserID) time.Time {
	return later(b.wall, b.dates[u]).Truncate(time.Microsecond)
}

// writeOff enters what a user has lost by now; it counts no more either way.
func (b *books) writeOff(u imagegen.UserID) {
	var lost imagegen.Credits
	for _, l := range b.of(u) {
		if b.expired(l) {
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
	seen note      // the time that was written down last
}

const (
	upkeepEvery   = time.Minute
	rememberEvery = time.Hour
)

// closed writes down that a doubt has begun or ended, and what time it is.
func (b *books) closed() {
	b.look(time.Now())
	b.note()
}

// opened begins the upkeep, forgets what was not written down, and writes the time down.
func (b *books) opened() {
	now := time.Now()
	b.upkeep.next = now.Add(upkeepEvery)
	var written time.Time
	for _, e := range b.journal[b.corrected:] {
		written = later(written, e.Time)
	}
	b.clock.resume(b.upkeep.seen, written, now)
	b.look(now)
	b.note()
}

// catchUp does the upkeep that was due until a moment.
func (b *books) catchUp(until time.Time) {
	if b.upkeep.next.IsZero() {
		return
	}
	for ; !b.upkeep.next.After(until); b.upkeep.next = b.upkeep.next.Add(upkeepEvery) {
		b.read(b.upkeep.next)
		for _, u := range b.users() {
			b.writeOff(u)
		}
		b.note()
	}
}

// note writes the time down now and then, and where a doubt has begun or ended.
func (b *books) note() {
	if former := b.upkeep.seen; former.doubt == b.doubt && b.now.Sub(former.at) < rememberEvery {
		return
	}
	b.upkeep.seen = note{at: b.now}
	if b.doubt {
		b.upkeep.seen = note{b.now, true, b.wall.Sub(b.now)}
	}
}

func (b *books) users() (users []imagegen.UserID) {
	for _, l := range b.lots {
		users = append(users, l.User)
	}
	slices.Sort(users)
	return slices.Compact(users)
}

// confirmClock believes the wall clock. What has expired stays expired.
func (b *books) confirmClock() {
	now := time.Now()
	b.look(now)
	if !b.doubt {
		return
	}
	for _, u := range b.users() {
		b.writeOff(u)
	}
	b.now, b.doubt, b.upkeep.seen = b.wall, false, note{at: b.wall}
	b.clock.set(b.wall, now)
	b.clock.written, b.corrected, b.dates = b.wall, len(b.journal), map[imagegen.UserID]time.Time{}
	b.enter(imagegen.Entry{Kind: "clock"})
}
