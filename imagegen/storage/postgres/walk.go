package postgres

import (
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
)

// pageOf is how many rows whoever goes over a table reads at once.
const pageOf = 1000

// stored is a row of the ledger, as it is stored.
type stored struct {
	name   []byte // of a charge, or a reference
	user   imagegen.UserID
	number int64
	form   []byte
}

func (s stored) place() ledger.Place { return ledger.Place{User: s.user, Seq: uint64(s.number)} }

func scanStored(rows pgx.Rows, take func(stored)) error {
	for rows.Next() {
		var row stored
		var user []byte
		if err := rows.Scan(&row.name, &user, &row.number, &row.form); err != nil {
			return err
		}
		row.user = imagegen.UserID(user)
		take(row)
	}
	return rows.Err()
}

// walk goes over the rows of a query once, by a cursor.
type walk struct {
	*session
	name, sql string
	turned    func([]stored) // is told of each page; nil: nobody is
	ahead     []stored       // that were read, and not yet passed
	begun     bool
	ended     bool
}

func newWalk(s *session, name, sql string) *walk { return &walk{session: s, name: name, sql: sql} }

// read reads a page once all before it were passed.
func (w *walk) read() {
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

// pages goes over all rows.
func (w *walk) pages() iter.Seq[[]stored] {
	return func(yield func([]stored) bool) {
		for !w.ended {
			if w.read(); !yield(w.ahead) {
				return
			}
		}
	}
}

// of goes over a user's rows, of a query that is in the order of the users, and passes those of users before. Rows that
// were yielded are passed.
func (w *walk) of(u imagegen.UserID) iter.Seq[stored] {
	return func(yield func(stored) bool) {
		for {
			if len(w.ahead) == 0 && !w.ended {
				w.read()
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
