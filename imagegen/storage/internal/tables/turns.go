package tables

import (
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// Users are served in turn: a record's turn is one more than the later of the turn served last and
// its user's latest. So a backlog takes one turn after the other, and whoever comes new is served
// in the next one.

// seat gives a queued row its place: in the queue, or among the delayed until it is due.
func seat(tx kv.Tx, r row, now time.Time) row {
	r.turn, r.due = 0, time.Time{}
	if r.Delay > 0 {
		r.due = now.Add(r.Delay)
	} else {
		r.turn = nextTurn(tx, r.User)
	}
	return r
}

// nextTurn takes a turn for the user.
func nextTurn(tx kv.Tx, u imagegen.UserID) uint64 {
	turn := max(getUint(tx, served, lastServed), getUint(tx, turns, kv.Key(string(u)))) + 1
	putUint(tx, turns, kv.Key(string(u)), turn)
	return turn
}

// serve notes that a row's turn has come. A user's latest turn is forgotten with it: from then on
// it makes no difference.
func serve(tx kv.Tx, r row) {
	last := max(r.turn, getUint(tx, served, lastServed))
	putUint(tx, served, lastServed, last)
	if getUint(tx, turns, kv.Key(string(r.User))) <= last {
		tx.Delete(turns, kv.Key(string(r.User)))
	}
}
