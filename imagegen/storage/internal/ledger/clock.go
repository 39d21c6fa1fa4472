package ledger

import (
	"context"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/clock"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

var _ imagegen.Timekeeper = (*Ledger)(nil)

// Now implements [imagegen.Timekeeper].
func (l *Ledger) Now() time.Time { return l.clock.Now() }

// Gap is how long nobody had the ledger open before this process. It is known to the hour where
// nothing was entered.
func (l *Ledger) Gap() time.Duration { return l.gap }

// Slept is how long the machine slept since it was last asked for.
func (l *Ledger) Slept() time.Duration { return l.clock.Slept() }

// ClockInDoubt implements [imagegen.Timekeeper].
func (l *Ledger) ClockInDoubt() (leap time.Duration, doubt bool) {
	at := l.Read()
	return at.Leap, at.Doubt
}

// ConfirmClock implements [imagegen.Timekeeper]. What has expired by now is written off first, so that
// it stays so where the correction turns time back.
func (l *Ledger) ConfirmClock(ctx context.Context) error {
	at := l.Read()
	if !at.Doubt {
		return nil
	}
	if err := l.ExpireAll(ctx); err != nil {
		return err
	}
	former := at.Now
	at.Now, at.Doubt = at.Wall, false
	var corrected bool
	confirmed := trail.Change{Target: "clock", Before: trail.Fields("now", former), After: trail.Fields("now", at.Now)}
	err := trail.ActIn(ctx, at.Wall, account.ActClockConfirm, l.store.Update, Tx.Note, func(tx Tx) (trail.Change, error) {
		mark := tx.Clock()
		if corrected = mark.Epoch == at.Epoch; !corrected {
			return trail.Change{}, nil // somebody else was faster
		}
		tx.PutClock(mark.Saw(at))
		_, err := l.At(tx, at).open("").record(Entry{Entry: imagegen.Entry{Kind: entryClock}})
		return confirmed, err
	})
	if err == nil && corrected {
		l.clock.Confirm(at.Epoch + 1)
	}
	return err
}

// Corrected tells that somebody else who shares the store has confirmed the clock: it is of that epoch now.
func (l *Ledger) Corrected(epoch uint64) {
	if epoch > l.Read().Epoch {
		l.clock.Confirm(epoch)
	}
}

// rememberEvery is how often the time is written down, so that a restart of an idle ledger knows it.
const rememberEvery = time.Hour

// Remember writes a doubt down that has begun or ended since the last call of Expire. It is meant for
// the end of a process.
func (l *Ledger) Remember(ctx context.Context) error {
	return l.update(ctx, func(b Books) error { b.remember(); return nil })
}

// remember makes the judged time durable, so that a restart cannot fall behind it.
func (b Books) remember() {
	mark := b.tx.Clock()
	if seen := b.seen(mark); seen != mark {
		b.tx.PutClock(seen)
	}
}

// seen writes the time down now and then, and where a doubt has begun or ended, unless it is of an
// epoch that has ended.
func (b Books) seen(mark clock.Mark) clock.Mark {
	if mark.Epoch != b.at.Epoch || mark.Doubt == b.at.Doubt && b.at.Now.Sub(mark.At) < rememberEvery {
		return mark
	}
	return mark.Saw(b.at)
}

// wrote notes the time of an entry. A doubt in which one was written outlasts the process: what is
// dated by a clock that is wrong shows that it was, once it is put right.
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
