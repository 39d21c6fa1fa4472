package ledger

import (
	"context"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
)

// expireBatch is the most lots that one entry, and one call of Expire, writes off.
const expireBatch = 500

// Expire writes off up to 500 lots whose time has come, whosever they are, and remembers the time;
// more tells whether others may be due. It is meant for a background loop: what has expired no longer
// counts anyway, whether or not Expire runs.
func (l *Ledger) Expire(ctx context.Context) (more bool, err error) {
	err = l.update(ctx, func(b Books) error {
		left := expireBatch
		for _, u := range b.dueUsers() {
			a := b.open(u)
			lost := a.lost(left)
			if err := a.writeOff(lost); err != nil {
				return err
			}
			if left -= len(lost); left == 0 {
				break
			}
		}
		more = left == 0
		b.remember()
		return nil
	})
	return more && err == nil, err
}

// ExpireAll writes off all lots whose time has come.
func (l *Ledger) ExpireAll(ctx context.Context) error {
	for {
		more, err := l.Expire(ctx)
		if err != nil || !more {
			return err
		}
	}
}

// dueUsers are those of whom something has expired, or as many of them as one batch has lots.
func (b Books) dueUsers() (users []imagegen.UserID) {
	for u := range b.tx.Due(b.at.Now) {
		if users = append(users, u); len(users) == expireBatch {
			break
		}
	}
	return users
}

// expire writes off what the account's lots have lost by this time.
func (a *openAccount) expire() error {
	if !a.due() {
		return nil
	}
	return a.writeOff(a.lost(-1))
}

// lost finds up to n lots that have expired and are not written off; all if n is negative.
func (a *openAccount) lost(n int) (lost []Posting) {
	for l := range a.expiring() {
		if len(lost) == n || !l.expired(a.at.Now) {
			break
		}
		lost = append(lost, Posting{Lot: l.Number, Took: l.Remaining})
	}
	return lost
}

func (a *openAccount) writeOff(lost []Posting) error {
	for postings := range slices.Chunk(lost, expireBatch) {
		e := Entry{Entry: imagegen.Entry{Kind: imagegen.EntryExpire}, Postings: postings}
		for _, p := range postings {
			e.Credits -= p.Took
		}
		if _, err := a.record(e); err != nil {
			return err
		}
	}
	return nil
}
