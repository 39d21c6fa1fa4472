package storage

import (
	"fmt"
	"sync/atomic"

	"github.com/imagegend/imagegend/imagegen"
)

// damage is the last that was found damaged, for readiness to warn of until an audit finds nothing.
type damage struct{ last atomic.Pointer[string] }

// damagedGeneration tells of one that was put aside.
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
	return []imagegen.Notice{{Code: "damage", Detail: fmt.Sprintf("the database was found damaged (%s); an audit tells what is wrong yet", *what)}}
}

// beforeAudit returns what a clean audit that begins now disproves.
func (d *damage) beforeAudit() (disprove func()) {
	known := d.last.Load()
	return func() { d.last.CompareAndSwap(known, nil) }
}
