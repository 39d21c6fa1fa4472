package crash_test

import (
	"context"

	"github.com/imagegend/imagegend/imagegen"
)

// charge is what the journal says of one.
type charge struct {
	imagegen.Charge
	closed bool
	used   imagegen.Credits
}

// judgeAccount: each charge is a generation's, closed, and to what its images cost; the others came
// to nothing. What was not spent is there.
func (w *world) judgeAccount(u imagegen.UserID, records []imagegen.Record) {
	charges, left := w.read(u)
	for _, r := range records {
		if r.User != u {
			continue
		}
		c, made := charges[r.Charge().ID]
		c.closed = c.closed || !made // it was settled to nothing before it was made, which no entry tells
		if err := r.CheckCharge(c.Charge, c.closed, c.used); err != nil {
			w.Error(err)
		}
		delete(charges, r.Charge().ID)
	}
	for id, c := range charges {
		if !c.closed || c.used != 0 {
			w.Errorf("charge %s is no generation's: closed %t, %d credits spent", id, c.closed, c.used)
		}
	}
	b, err := w.books.Balance(context.Background(), u)
	if err != nil {
		w.Error(err)
	}
	if b.Credits != left {
		w.Errorf("%s has %d credits left instead of %d", u, b.Credits, left)
	}
	if w.held(u) != 0 {
		w.Errorf("%d credits of %s are held for ever", w.held(u), u)
	}
}

// read goes over a user's journal: the charges, and what is to be left. Credits expire with their
// lot, except those that were held then: what comes back of them lives on for a day.
func (w *world) read(u imagegen.UserID) (charges map[imagegen.ChargeID]charge, left imagegen.Credits) {
	entries, err := w.books.History(context.Background(), u, 0, 1000)
	if err != nil {
		w.Error(err)
	}
	charges = map[imagegen.ChargeID]charge{}
	for _, e := range entries {
		c := charges[e.Charge]
		switch e.Kind {
		case imagegen.EntryCharge:
			c.Charge = imagegen.Charge{ID: e.Charge, User: e.User, Credits: -e.Credits}
		case imagegen.EntrySettle:
			c.closed, c.used = true, e.Used
		}
		if e.Charge != "" {
			charges[e.Charge] = c
		}
		if w.expire.IsZero() || !e.Time.Before(w.expire) && e.Kind == imagegen.EntrySettle {
			left += e.Credits
		}
	}
	return charges, left
}

// held is how much of an account open charges hold.
func (w *world) held(u imagegen.UserID) (sum imagegen.Credits) {
	lots, err := w.books.Lots(context.Background(), u)
	if err != nil {
		w.Error(err)
	}
	for _, l := range lots {
		sum += l.Held
	}
	return sum
}

// charged reports whether some charge is open: else no provider is to be called.
func (w *world) charged() bool { return w.held(alice)+w.held(bob) > 0 }
