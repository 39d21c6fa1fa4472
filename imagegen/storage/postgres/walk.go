package postgres

import (
	"fmt"
	"iter"

	"github.com/imagegend/imagegend/imagegen"
)

// pageOf is how many rows are read at once of a table that is read as a whole.
const pageOf = 1000

// walk goes over the rows of a table once, by a cursor: so it can stop anywhere and go on later, and several walks can
// take turns in one transaction, with which they end. In memory is one page at most.
type walk[V any] struct {
	*session
	kind   kind[V]
	tail   string                   // of the query
	user   func(*V) imagegen.UserID // whose a row is
	turned func([]*V)               // is called with each page when it is read; may be nil
	ahead  []*V                     // rows that were read, and not yet passed
	begun  bool                     // the cursor is declared
	ended  bool                     // no page follows the one in ahead
}

// newWalk declares no cursor yet: the first read does.
func newWalk[V any](s *session, k kind[V], tail string, user func(*V) imagegen.UserID) *walk[V] {
	return &walk[V]{session: s, kind: k, tail: tail, user: user}
}

// fetch reads the next page in the place of the one in ahead. A page that is not full is the last.
func (w *walk[V]) fetch() {
	name := "walk_" + w.kind.table[len("imagegend."):]
	if !w.begun {
		w.exec(`declare ` + name + ` no scroll cursor for ` + w.kind.from() + w.tail)
		w.begun = true
	}
	w.ahead = nil
	read(w.session, w.kind.scan, func(v *V) { w.ahead = append(w.ahead, v) },
		fmt.Sprintf(`fetch %d from %s`, pageOf, name))
	w.ended = len(w.ahead) < pageOf
	if w.turned != nil {
		w.turned(w.ahead)
	}
}

// rowsOf goes over a user's rows, in a query that is sorted by user. It skips the rows of users before and leaves those
// of users behind for their turn; what it has yielded it does not yield again. So it gives a user's rows once, and only
// if users are asked for in order.
func (w *walk[V]) rowsOf(u imagegen.UserID) iter.Seq[V] {
	return func(yield func(V) bool) {
		for {
			if len(w.ahead) == 0 && !w.ended {
				w.fetch()
			}
			if len(w.ahead) == 0 || w.user(w.ahead[0]) > u {
				return
			}
			row := w.ahead[0]
			w.ahead = w.ahead[1:]
			if w.user(row) == u && !yield(*row) {
				return
			}
		}
	}
}
