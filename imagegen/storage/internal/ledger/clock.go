package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/clock"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

var _ imagegen.Timekeeper = (*Ledger)(nil)

// Now implements [imagegen.Timekeeper].
func (l *Ledger) Now() time.Time { return l.clock.Now() }

// Age implements [imagegen.Timekeeper].
func (l *Ledger) Age(at time.Time) time.Duration { return l.Read().Age(at) }

// Gap is how long nobody had the ledger open before this process. If there were no entries it is exact only to
// the hour, because an idle ledger writes the time down that often.
func (l *Ledger) Gap() time.Duration { return l.gap }

// Slept is how long the machine slept since it was last asked for.
func (l *Ledger) Slept() time.Duration { return l.clock.Slept() }

// ClockInDoubt implements [imagegen.Timekeeper]. It reads the wall clock, so the answer is as of now.
func (l *Ledger) ClockInDoubt() (leap time.Duration, doubt bool) {
	at := l.Read()
	return at.Leap, at.Doubt
}

// ConfirmClock implements [imagegen.Timekeeper]. What has expired by the judged time is written off first, so that
// it stays expired if the correction sets the time back. Then the correction becomes an entry of the system's
// journal, durably, and only after that the clock in memory follows. If two callers confirm at once, one of
// them writes the entry, and the other changes nothing.
func (l *Ledger) ConfirmClock(ctx context.Context) error {
	at := l.Read()
	if !at.Doubt {
		return nil
	}
	if err := l.ExpireAll(ctx); err != nil {
		return err
	}
	if err := l.store.View(ctx, func(tx Tx) error {
		for u := range tx.Due(at.Now) {
			return fmt.Errorf("%w: somebody holds the account of %q, whose credits have expired; confirm the clock again",
				imagegen.ErrNotApplied, u)
		}
		return nil
	}); err != nil {
		return err
	}
	former := at.Now
	at.Now, at.Doubt = at.Wall, false
	var corrected bool
	confirmed := trail.Change{Target: "clock", Before: trail.Fields("now", former), After: trail.Fields("now", at.Now)}
	err := trail.Act(ctx, at.Now, account.ActClockConfirm, l.store.Update, Tx.Note,
		func(tx Tx) (trail.Change, error) {
			mark := tx.Clock()
			if corrected = mark.Epoch == at.Epoch; !corrected {
				return trail.Change{}, nil // somebody else has confirmed it
			}
			tx.PutClock(mark.Saw(at))
			_, err := l.At(tx, at).accountOf("").record(Entry{Entry: imagegen.Entry{Kind: entryClock}})
			return confirmed, err
		})
	if err == nil && corrected {
		l.clock.Confirm(at.Epoch + 1)
	}
	return err
}

// Corrected tells the ledger that another process which shares the store has confirmed the clock, in a new epoch. It
// does nothing if the epoch is known.
func (l *Ledger) Corrected(epoch uint64) {
	if epoch > l.Read().Epoch {
		l.clock.Confirm(epoch)
	}
}

// rememberEvery is how often the time of an idle ledger is written down, for a restart to compare with.
const rememberEvery = time.Hour

// Remember writes down the time if that was not done for an hour, and whether a doubt has begun or ended since the last
// call of Expire. It is meant for the beginning and the end of a process.
func (l *Ledger) Remember(ctx context.Context) error {
	return l.update(ctx, func(b Books) error { b.remember(); return nil })
}

// remember makes the judged time durable where seen says so, so that a restart cannot fall behind it.
func (b Books) remember() {
	mark := b.tx.Clock()
	if seen := b.seen(mark); seen != mark {
		b.tx.PutClock(seen)
	}
}

// seen returns the mark to write: with this time if the last one is an hour old, or if a doubt has begun or ended
// since; else the mark as it is. A reading from an epoch that has ended changes nothing.
func (b Books) seen(mark clock.Mark) clock.Mark {
	if mark.Epoch != b.at.Epoch || mark.Doubt == b.at.Doubt && b.at.Now.Sub(mark.At) < rememberEvery {
		return mark
	}
	return mark.Saw(b.at)
}

// wrote notes the time of an entry. If the clock is in doubt then, that is written down at once: entries that were
// dated by a wrong clock show, once it is right, that it was wrong.
func (b Books) wrote(mark clock.Mark, e Entry) {
	seen := mark
	if b.at.Doubt {
		b.tx.OnCommit(func() { b.clock.Wrote(e.Time) })
		seen = b.seen(mark)
	}
	if seen = seen.Wrote(e.Time, e.Epoch); seen != mark {
		b.tx.PutClock(seen)
	}
}
