package trail

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// maxOrigins is how many origins of failed sign-ins get rows of their own in one minute; all others share one more. So
// neither the trail nor memory grows without bound when somebody tries names or addresses.
const maxOrigins = 1000

// origin is as whom somebody tried to sign in, and from where.
type origin struct {
	via    string // the way in, as account.Actor has it
	target imagegen.UserID
	from   netip.Prefix
}

// others stands for all origins beyond maxOrigins.
var others = origin{via: "others"}

// Failures counts sign-ins that fail, so that many of them make few rows: one for the first failure of an origin in a
// minute, at once, and one for all further ones, when the minute is over. What is counted and not written is
// lost in a crash. It is safe for concurrent use.
type Failures struct {
	now   func() time.Time
	write func(context.Context, []account.TrailRow) error // is called without the lock

	mu     sync.Mutex     // guards the fields below
	minute time.Time      // the beginning of the minute that counts is about
	counts map[origin]int // of the origins that have a row in this minute: how many failures are in no row yet
}

// NewFailures returns the counts of a trail; write puts rows at its end, in one transaction.
func NewFailures(now func() time.Time, write func(context.Context, []account.TrailRow) error) *Failures {
	return &Failures{now: now, write: write, counts: make(map[origin]int)}
}

// SignInFailed implements [account.TrailStore].
func (f *Failures) SignInFailed(ctx context.Context, target imagegen.UserID, from netip.Prefix) error {
	if err := f.WriteDue(ctx); err != nil {
		return err
	}
	o := origin{account.ActorOf(ctx).Via, target, from}
	if !f.first(&o) {
		return nil
	}
	return f.addCounts(ctx, map[origin]int{o: 1})
}

// first counts a failure, and reports whether it is the first of its origin in this minute: then it is not counted,
// and the caller writes a row for it. It changes o to others where too many origins failed.
func (f *Failures) first(o *origin) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, known := f.counts[*o]
	if !known && len(f.counts) >= maxOrigins {
		*o = others
		n, known = f.counts[others]
	}
	if known {
		n++
	}
	f.counts[*o] = n
	return !known
}

// WriteDue writes what was counted in a minute that is over. The rows are dated now and count as those of the minute
// that has begun, so that each origin has one row in a minute.
func (f *Failures) WriteDue(ctx context.Context) error {
	return f.writeOf(ctx, f.now().Truncate(time.Minute))
}

// WriteCounts writes everything that was counted and is in no row yet, that of the current minute included. It is meant
// for the end of a process.
func (f *Failures) WriteCounts(ctx context.Context) error { return f.writeOf(ctx, time.Time{}) }

// writeOf begins a minute, unless it is the one that has begun, and writes what was counted in the one before.
func (f *Failures) writeOf(ctx context.Context, minute time.Time) error {
	due := f.turn(minute)
	if len(due) == 0 {
		return nil
	}
	return f.addCounts(ctx, due)
}

// turn begins a new minute, and returns what is to be written of the one before. Origins with something to write stay,
// since that will be their row in the new minute; all others are forgotten.
func (f *Failures) turn(minute time.Time) map[origin]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if minute.Equal(f.minute) {
		return nil
	}
	f.minute = minute
	due := make(map[origin]int)
	for o, n := range f.counts {
		if n == 0 {
			delete(f.counts, o)
			continue
		}
		due[o], f.counts[o] = n, 0
	}
	return due
}

// putBack counts again failures that could not be written. Those of origins that were forgotten since are lost.
func (f *Failures) putBack(counts map[origin]int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for o, n := range counts {
		if _, known := f.counts[o]; known {
			f.counts[o] += n
		}
	}
}

// addCounts writes counts as rows. If that fails, they stay counted for the next time.
func (f *Failures) addCounts(ctx context.Context, counts map[origin]int) error {
	now := f.now()
	var rows []account.TrailRow
	for o, n := range counts {
		rows = append(rows, o.row(now, n))
	}
	err := f.write(ctx, rows)
	if err != nil {
		f.putBack(counts)
	}
	return err
}

// row is the row of n failures of an origin. The row of all others names neither the way in nor an address.
func (o origin) row(now time.Time, n int) account.TrailRow {
	r := account.TrailRow{Time: now, Actor: account.Actor{Via: o.via}, Act: account.ActSignInFailed,
		Target: string(o.target), User: o.target, Outcome: account.TrailRefused, Count: n}
	switch {
	case o == others:
		r.Actor, r.After = account.Actor{}, "of others"
	case o.from.IsValid():
		r.Actor.Address = o.from.String()
	}
	return r
}
