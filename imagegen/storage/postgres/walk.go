package postgres

import (
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
)

// pageOf is how many rows are read at once of a table that is read as a whole.
const pageOf = 1000

// stored is a row of one of the ledger's tables, as it is stored.
type stored struct {
	name   []byte // of a charge, or a reference; nil: the row has none
	user   imagegen.UserID
	number int64 // of an entry, or a lot; otherwise it means nothing
	form   []byte
}

// place is where the row's entry stands in the journal.
func (s stored) place() ledger.Place { return ledger.Place{User: s.user, Seq: uint64(s.number)} }

// scanStored calls take with each row of a query for name, user, number and form, in this order.
func scanStored(rows pgx.Rows, take func(stored)) error {
	var row stored
	var user []byte
	return each(rows, func() error {
		row.user = imagegen.UserID(user)
		take(row)
		return nil
	}, &row.name, &user, &row.number, &row.form)
}

// walk goes over the rows of a query once, by a cursor: so it can stop anywhere and go on later, and several walks can
// take turns in one transaction, with which they end. In memory is one page at most.
type walk struct {
	*session
	name, sql string         // name is unique in the transaction
	turned    func([]stored) // is called with each page when it is read; may be nil
	ahead     []stored       // rows that were read, and not yet passed
	begun     bool           // the cursor is declared
	ended     bool           // no page follows the one in ahead
}

// newWalk declares no cursor yet: the first read does.
func newWalk(s *session, name, sql string) *walk { return &walk{session: s, name: name, sql: sql} }

// fetch reads the next page in the place of the one in ahead. A page that is not full is the last.
func (w *walk) fetch() {
	if !w.begun {
		w.exec(`declare walk_` + w.name + ` no scroll cursor for ` + w.sql)
		w.begun = true
	}
	w.ahead = nil
	w.query(func(rows pgx.Rows) error {
		return scanStored(rows, func(s stored) { w.ahead = append(w.ahead, s) })
	}, fmt.Sprintf(`fetch %d from walk_%s`, pageOf, w.name))
	w.ended = len(w.ahead) < pageOf
	if w.turned != nil {
		w.turned(w.ahead)
	}
}

// pages goes over all rows, page by page. The last page may be empty.
func (w *walk) pages() iter.Seq[[]stored] {
	return func(yield func([]stored) bool) {
		for !w.ended {
			if w.fetch(); !yield(w.ahead) {
				return
			}
		}
	}
}

// rowsOf goes over a user's rows, in a query that is sorted by user. It skips the rows of users before and leaves those
// of users behind for their turn; what it has yielded it does not yield again. So it gives a user's rows once, and only
// if users are asked for in order.
func (w *walk) rowsOf(u imagegen.UserID) iter.Seq[stored] {
	return func(yield func(stored) bool) {
		for {
			if len(w.ahead) == 0 && !w.ended {
				w.fetch()
			}
			if len(w.ahead) == 0 || w.ahead[0].user > u {
				return
			}
			row := w.ahead[0]
			w.ahead = w.ahead[1:]
			if row.user == u && !yield(row) {
				return
			}
		}
	}
}
