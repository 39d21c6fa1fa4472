package trail

import (
	"context"
	"net/netip"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// mostOrigins is how many rows the sign-ins that fail in one minute can have; the others share one more.
const mostOrigins = 1000

// origin is whom somebody tried to be, and from where.
type origin struct {
	via    string
	target imagegen.UserID
	from   netip.Prefix
}

// others are the origins beyond mostOrigins.
var others = origin{via: "others"}

// count is how often something failed within a minute, and of that what is in no row yet.
type count struct{ unwritten int }

// SignInFailed implements [imagegen.TrailStore].
func (t *Trail) SignInFailed(ctx context.Context, target imagegen.UserID, from netip.Prefix) error {
	if err := t.writeCounts(ctx); err != nil {
		return err
	}
	o := origin{imagegen.ActorOf(ctx).Via, target, from}
	if !t.first(&o) {
		return nil
	}
	once := map[origin]int{o: 1}
	err := t.write(ctx, once)
	if err != nil {
		t.putBack(once)
	}
	return err
}

// first counts a failure, and reports whether it is the first of its origin in this minute.
func (t *Trail) first(o *origin) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	c, known := t.counts[*o]
	if !known && len(t.counts) >= mostOrigins {
		*o = others
		c, known = t.counts[others]
	}
	if known {
		c.unwritten++
		return false
	}
	if t.counts == nil {
		t.counts = make(map[origin]*count)
	}
	t.counts[*o] = new(count)
	return true
}

// writeCounts writes what was counted in a minute that is over. Its rows are those of the minute that has
// begun: so each origin has one in every minute.
func (t *Trail) writeCounts(ctx context.Context) error {
	return t.writeOf(ctx, t.now().Truncate(time.Minute))
}

// WriteCounts writes what was counted and is in no row yet, also of the minute under way: it is the last
// of this Trail.
func (t *Trail) WriteCounts(ctx context.Context) error { return t.writeOf(ctx, time.Time{}) }

// writeOf begins a minute, and writes what was counted in the one before.
func (t *Trail) writeOf(ctx context.Context, minute time.Time) error {
	due := t.turn(minute)
	if len(due) == 0 {
		return nil
	}
	err := t.write(ctx, due)
	if err != nil {
		t.putBack(due)
	}
	return err
}

// turn begins a new minute, and returns what is to be written of the one before.
func (t *Trail) turn(minute time.Time) map[origin]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if minute.Equal(t.minute) {
		return nil
	}
	t.minute = minute
	due := make(map[origin]int)
	for o, c := range t.counts {
		if c.unwritten == 0 {
			delete(t.counts, o)
			continue
		}
		due[o], c.unwritten = c.unwritten, 0
	}
	return due
}

func (t *Trail) putBack(counts map[origin]int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for o, n := range counts {
		if c := t.counts[o]; c != nil {
			c.unwritten += n
		}
	}
}

func (t *Trail) write(ctx context.Context, counts map[origin]int) error {
	now := t.now()
	return t.db.Update(ctx, func(tx kv.Tx) error {
		for o, n := range counts {
			if err := Append(tx, o.row(now, n)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (o origin) row(now time.Time, n int) imagegen.TrailRow {
	r := imagegen.TrailRow{Time: now, Actor: imagegen.Actor{Via: o.via}, Act: imagegen.ActSignInFailed, Target: string(o.target), User: o.target,
		Outcome: imagegen.TrailRefused, Count: n}
	switch {
	case o == others:
		r.Actor, r.After = imagegen.Actor{}, "of others"
	case o.from.IsValid():
		r.Actor.Address = o.from.String()
	}
	return r
}
