package storage

import (
	"fmt"
	"sync/atomic"

	"github.com/imagegend/imagegend/imagegen"
)

// damage keeps the last damage that was found, for Warnings to report until an audit finds none. It is safe
// for concurrent use.
type damage struct{ last atomic.Pointer[string] }

// damagedGeneration logs a generation that was put aside, and remembers it for Warnings.
func (db *DB) damagedGeneration(err error) {
	db.log.Error("the database is damaged; run an audit", "error", err)
	db.damage.found(err.Error())
}

func (d *damage) found(what string) { d.last.Store(&what) }

// warning is nil if nothing was found.
func (d *damage) warning() []imagegen.Notice {
	what := d.last.Load()
	if what == nil {
		return nil
	}
	return []imagegen.Notice{{Code: "damage",
		Detail: fmt.Sprintf("the database was found damaged (%s); an audit shows what is still wrong", *what)}}
}

// beforeAudit returns a function to call if an audit that begins now finds nothing. It clears the damage that
// is known now, but none that is found while the audit runs: the audit may have passed that place before.
func (d *damage) beforeAudit() (disprove func()) {
	known := d.last.Load()
	return func() { d.last.CompareAndSwap(known, nil) }
}
