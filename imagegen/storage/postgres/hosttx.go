package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/rules"
	"github.com/imagegend/imagegend/imagegen/storage/internal/tables"
)

// hostTx is a transaction of the host's, in which this DB may write.
type hostTx struct {
	db *DB
	tx pgx.Tx
}

// HostTx implements [imagegen.HostTx].
func (hostTx) HostTx() {}

// In returns a transaction of the host program's for [engine.Session.GenerateTx]. It must be one in the database of
// this DB, by whichever pool, with the rights that the DB has there, at any isolation level. The commit is the host's,
// and so is its durability: with synchronous_commit off, or where a wait for a standby was cancelled, what was accepted
// may be lost with the host's own rows.
func (db *DB) In(tx pgx.Tx) imagegen.HostTx { return hostTx{db, tx} }

var errOtherTx = errors.New("postgres: the transaction was not made by In of this DB")

// CreateChargedIn implements [imagegen.HostTxStore]. It is a session like any other, in two round trips, but neither
// begins, nor sets, nor commits anything, and never runs the transaction again. Before it writes, it may read anew:
// once it has made an account, or when it was overtaken.
func (db *DB) CreateChargedIn(ctx context.Context, in imagegen.HostTx, r imagegen.Record, outdated error) (
	made imagegen.Record, err error) {
	host, ok := in.(hostTx)
	if !ok || host.db != db {
		return made, errOtherTx
	}
	if err := rules.New(r); err != nil {
		return made, err
	}
	if err := db.enter(); err != nil {
		return made, err
	}
	defer db.calls.Done()
	for range mostTries {
		s := newSession(ctx, db, conn{inSchema: inSchema{host.tx, db.sql.schema}}, true)
		s.long, s.hosted = true, true // how long anything may take is for the host to say
		if made, err = s.createHosted(r, outdated); !errors.Is(err, errUnlocked) && !errors.Is(err, errOvertaken) {
			return made, err
		}
	}
	return made, contended(err)
}

func (s *session) createHosted(r imagegen.Record, outdated error) (imagegen.Record, error) {
	var made tables.Row
	n := chargeNeeds(r)
	var reads, writes pgx.Batch
	s.prefetch(&reads, n)
	reads.Queue(steadyUsers, unique(n.askers))
	reads.Queue(steadyKeys, unique(n.keys))
	if err := s.send(&reads); err != nil {
		return made.Record, err
	}
	err := spared(func() (err error) {
		if outdated != nil {
			if made, err = s.load(r.ID); errors.Is(err, imagegen.ErrNotFound) {
				err = outdated
			}
			return err
		}
		missing := s.unlocked(n.users)
		for _, u := range missing {
			s.accounts[imagegen.UserID(u)] = newAccount(imagegen.UserID(u))
		}
		if made, err = tables.CreateCharged(asked{s}, r, 0); err == nil && len(missing) > 0 {
			s.exec(makeAccounts, missing) // to lock them
			err = errUnlocked
		}
		return err
	})
	if err != nil || s.changes == 0 {
		return made.Record, err
	}
	s.flush(&writes)
	return made.Record, s.send(&writes)
}

// Everywhere else the lock of the account keeps users and keys as they are read, since acts on them wait for it. But a
// transaction of the host's that is more than READ COMMITTED reads as of a moment before it had the lock. There a row
// that was changed since is a failed serialization.
const (
	steadyUsers = `select from imagegend.users where id = any($1) and ` + repeatable
	steadyKeys  = `select from imagegend.api_keys where id = any($1) and ` + repeatable
	repeatable  = `current_setting('transaction_isolation') <> 'read committed' for share`
)
