package postgres

// Trips tells how many round trips the transactions that have ended took, and how many there were.
func (db *DB) Trips() (trips, transactions int64) { return db.trips.Load(), db.commits.Load() }

// Retried is retried.
var Retried = retried

// Settings are what holds in each transaction that writes.
var Settings = begin + "; " + settings
