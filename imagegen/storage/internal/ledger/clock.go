package ledger

import (
	"context"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/clock"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
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

// ConfirmClock implements [imagegen.Timekeeper]. What has lapsed by now is written off first, so that
// it stays so where the correction turns time back.
func (l *Ledger) ConfirmClock(ctx context.Context) error {
	at := l.Read()
	if !at.Doubt {
		return nil
	}
	if err := l.LapseAll(ctx); err != nil {
		return err
	}
	former := at.Now
	at.Now, at.Doubt = at.Wall, false
	var corrected bool
	confirmed := trail.Change{Target: "clock", Before: trail.Fields("now", former), After: trail.Fields("now", at.Now)}
	err := trail.Act(ctx, l.db, at.Wall, imagegen.ActClockConfirm, func(tx kv.Tx) (trail.Change, error) {
		if corrected = readHead(tx).epoch == at.Epoch; !corrected {
			return trail.Change{}, nil // somebody else was faster
		}
		b := l.At(tx, at)
		b.mark()
		_, err := b.record(entry{Entry: imagegen.Entry{Kind: entryClock}})
		return confirmed, err
	})
	if err == nil && corrected {
		l.clock.Confirm(at.Epoch + 1)
	}
	return err
}

// seenAt is no state of the ledger and in no journal: the clock as it was last seen running.
const seenAt kv.Bucket = "clock.seen"

func readMark(tx kv.Tx) (clock.Mark, error) { return clock.DecodeMark(tx.Get(seenAt, only)) }

// rememberEvery is how often the time is written down, so that a restart of an idle ledger knows it.
const rememberEvery = time.Hour

// Remember writes a doubt down that has begun or ended since the last call of Lapse. It is meant for the
// end of a process.
func (l *Ledger) Remember(ctx context.Context) error { return l.update(ctx, Books.rememberTime) }

// rememberTime writes the time down now and then, and where a doubt has begun or ended.
func (b Books) rememberTime() error {
	former, err := readMark(b.tx)
	if err != nil || former.Doubt == b.at.Doubt && b.now.Sub(former.At) < rememberEvery {
		return err
	}
	b.mark()
	return nil
}

// mark writes the time down, unless it is of an epoch that has ended.
func (b Books) mark() {
	if readHead(b.tx).epoch == b.at.Epoch {
		b.tx.Put(seenAt, only, b.at.Mark().Encode())
	}
}

// wrote has a doubt, and an entry that was written in it, outlast the process: what is dated by a clock
// that is wrong shows that it was, once it is put right.
func (b Books) wrote(e entry) error {
	if !b.at.Doubt {
		return nil
	}
	b.tx.OnCommit(func() { b.clock.Wrote(e.Time) })
	return b.rememberTime()
}
