package postgres

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/clock"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

// session is one transaction: the rows that it has read, as they are by now, and with them what is to be written. What
// was not read beforehand is read when it is asked for, which takes a round trip of its own. Of most kinds it is noted,
// too, that there is no such row, so that it is not asked for again.
//
// A session implements ledger.Tx, and kv.Tx by way of kept. Neither of the two returns errors, so where the database
// fails, a session panics with a failure, and where a row cannot be read with a kv.Damage; spared turns both into
// errors. A session belongs to one goroutine, and ends with its transaction.
type session struct {
	ctx    context.Context
	db     *DB
	conn   conn
	writes bool // it locks the accounts and generations that it reads; false in a snapshot
	long   bool // a statement may take as long as it takes
	hosted bool // the transaction is the host's
	trips  int  // round trips so far
	acts   bool // it holds the lock of all acts

	wait    time.Duration     // how long a lock on an account is waited for; 0: as long as a statement may take
	past    []string          // accounts that are not locked beforehand, since they are taken
	awaited []imagegen.UserID // accounts whose lock was not to be had in time

	at   clock.Reading // the time of all that it does, as the database had it once the rows were locked
	mark marked

	accounts map[imagegen.UserID]*accountRows
	charges  map[imagegen.ChargeID]*charge
	entries  []ledger.Entry                // to be written, in order
	journal  map[ledger.Place]ledger.Entry // that were read
	refs     map[string]ledger.Place       // of references that were read; the zero Place: it is free
	usage    map[ledger.UsageKey]*usage
	totals   map[keyOf]*total
	whole    map[keyOf]map[time.Time]bool // the days of which all usage was read
	rows     map[imagegen.GenerationID]*generation
	aside    []string                          // generations that leave the queue as they are, see putAside
	admitted []string                          // users, one for each generation that is to be counted as queued
	holders  map[holder]imagegen.GenerationID  // of idempotency keys; "": nobody
	users    map[imagegen.UserID]imagegen.User // that were read; one without an ID: there is none
	keys     map[imagegen.KeyID]imagegen.Key   // likewise
	kept     kept
	events   []*imagegen.FeedEvent // to be written, in order
	noted    []*account.TrailRow   // to be written, in order

	// changes counts what was written so far, whether it was sent or waits for flush. So it tells whether a call that
	// failed has written anything (decide).
	changes  int
	onCommit []func() // in the order in which they came; called by committed
}

// accountRows is an account and what is known of its lots.
type accountRows struct {
	ledger.Account
	changed bool
	lots    map[uint64]*lot // by number, in whatever order they came
	spend   line            // how far they were read in the order in which they are consumed
	expire  line            // and in that in which they expire
}

// lot is a lot as it is by now. known: there is one. fresh: it is not in the database yet.
type lot struct {
	ledger.Lot
	known, fresh, changed bool
}

// charge is a charge as it is by now, see lot.
type charge struct {
	ledger.Charge
	known, fresh, changed bool
	damaged               error        // set by audits only: its entry is missing or cannot be read
	was                   ledger.Place // of its last entry in the database
}

var _ ledger.Tx = (*session)(nil)

func newSession(ctx context.Context, db *DB, c conn, writes bool) *session {
	s := &session{ctx: ctx, db: db, conn: c, writes: writes,
		accounts: make(map[imagegen.UserID]*accountRows), charges: make(map[imagegen.ChargeID]*charge),
		journal: make(map[ledger.Place]ledger.Entry), refs: make(map[string]ledger.Place),
		usage:  make(map[ledger.UsageKey]*usage),
		totals: make(map[keyOf]*total), whole: make(map[keyOf]map[time.Time]bool),
		rows: make(map[imagegen.GenerationID]*generation), holders: make(map[holder]imagegen.GenerationID),
		users: make(map[imagegen.UserID]imagegen.User), keys: make(map[imagegen.KeyID]imagegen.Key)}
	s.kept = kept{session: s}
	return s
}

// committed calls what waits for the commit. Call it after a commit only: what was decided in a transaction that runs
// again, or whose outcome is unknown, must have no effect.
func (s *session) committed() {
	for _, f := range s.onCommit {
		f()
	}
}

// OnCommit implements ledger.Tx.
func (s *session) OnCommit(f func()) { s.onCommit = append(s.onCommit, f) }

// Note implements ledger.Tx.
func (s *session) Note(r account.TrailRow) error { return trail.Append(&s.kept, r) }

// query reads rows in one round trip. scan may leave rows unread; query closes them. A kv.Damage that scan returns, and
// any other error, end the transaction by a panic, see session.
func (s *session) query(scan func(pgx.Rows) error, sql string, args ...any) {
	ctx, cancel := s.trip()
	defer cancel()
	rows, err := s.conn.Query(ctx, sql, args...)
	if err == nil {
		err = scan(rows)
		rows.Close()
		err = errors.Join(err, rows.Err())
	}
	if damage, ok := errors.AsType[kv.Damage](err); ok {
		panic(damage)
	}
	if err != nil {
		panic(failure{err})
	}
}

// exec runs a statement in one round trip, see query.
func (s *session) exec(sql string, args ...any) {
	ctx, cancel := s.trip()
	defer cancel()
	if _, err := s.conn.Exec(ctx, sql, args...); err != nil {
		panic(failure{err})
	}
}

// trip returns the context of one round trip, which ends if the database does not answer.
func (s *session) trip() (context.Context, context.CancelFunc) {
	s.trips++
	if s.long {
		return context.WithCancel(s.ctx)
	}
	return s.db.patiently(s.ctx)
}

// takeTime lifts the limits of a session that reads or writes for long.
func (s *session) takeTime() {
	s.long = true
	s.exec(unhurried)
}

// locked is what a query ends with whose rows may be written afterwards; a snapshot must not lock.
func (s *session) locked() string {
	if s.writes {
		return " for update"
	}
	return ""
}

// each calls f for each row, whose columns it scans into the places. A slice of bytes is a new one for each row, so f
// may keep it. If f fails, its error is returned, and it is left to the caller to close the rows.
func each(rows pgx.Rows, f func() error, places ...any) error {
	for rows.Next() {
		if err := rows.Scan(places...); err != nil {
			return err
		}
		if err := f(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// scan calls f for each row of a query, whose columns it scans into the places, see each.
func (s *session) scan(f func(), places []any, sql string, args ...any) {
	s.query(func(rows pgx.Rows) error { return each(rows, func() error { f(); return nil }, places...) }, sql, args...)
}

// read calls f for each row of a query for what scanned scans, see query.
func read[V any](s *session, scanned func(pgx.Rows, func(V)) error, f func(V), sql string, args ...any) {
	s.query(func(rows pgx.Rows) error { return scanned(rows, f) }, sql, args...)
}

// identifiers are the first columns of the rows of a query.
func identifiers[S ~string](s *session, sql string, args ...any) (ids []S) {
	var id string
	s.scan(func() { ids = append(ids, S(id)) }, []any{&id}, sql, args...)
	return ids
}

// Clock implements ledger.Tx, but does not tell when the latest entry was written: that would take one row which every
// transaction changes, and so every transaction would wait for every other.
func (s *session) Clock() clock.Mark {
	if !s.mark.read {
		s.query(s.scanMark, inClock.from())
	}
	return s.mark.Mark
}

func (s *session) scanMark(rows pgx.Rows) error {
	return inClock.scan(rows, func(m *marked) {
		s.mark = *m
		s.mark.read = true
	})
}

// PutClock implements ledger.Tx. It leaves out when the latest entry was written, see Clock; so the row of the clock is
// written only when a doubt begins or ends, at a confirmation, and otherwise once an hour.
func (s *session) PutClock(m clock.Mark) {
	former := s.Clock()
	m.Written = former.Written
	if m != former && !s.hosted { // everybody would wait for the host to commit; what comes next writes it
		s.mark.Mark, s.mark.changed = m, true
		s.changes++
	}
}

// Account implements ledger.Tx.
func (s *session) Account(u imagegen.UserID) ledger.Account { return s.account(u).Account }

var readAccounts = inAccounts.from() + ` where usr = any($1) order by usr`

// account returns a user's account, which is locked where the session writes.
func (s *session) account(u imagegen.UserID) *accountRows {
	if s.accounts[u] == nil {
		s.readAccount(u)
	}
	return s.accounts[u]
}

// readAccount reads an account that nobody has named beforehand. A session that writes makes the account if there is
// none, since it needs something to lock; the second read waits for a transaction that makes it at the same time.
func (s *session) readAccount(u imagegen.UserID) {
	s.lock(s.scanAccounts, readAccounts+s.locked(), u)
	if s.accounts[u] == nil && s.writes {
		s.exec(`insert into imagegend.accounts (usr) values ($1) on conflict do nothing`, u)
		s.lock(s.scanAccounts, readAccounts+s.locked(), u)
	}
	if s.accounts[u] == nil {
		s.accounts[u] = newAccount(u)
	}
	// somebody has confirmed the clock since it was read
	if a := s.accounts[u]; s.writes && a.Epoch > s.Clock().Epoch {
		panic(failure{errOvertaken})
	}
}

// lock reads accounts that the query locks. It waits for them as long as the locks of its batch were waited for.
func (s *session) lock(scan func(pgx.Rows) error, sql string, users ...imagegen.UserID) {
	var b pgx.Batch
	if s.wait > 0 {
		b.Queue(waitFor(s.wait))
	}
	b.Queue(sql, unique(users)).Query(scan)
	if s.wait > 0 {
		b.Queue(waitFor(0))
	}
	err := s.send(&b)
	if codeOf(err) == codeLockNotAvailable {
		s.awaited = users
	}
	s.must(err)
}

// newAccount returns an account without entries or lots.
func newAccount(u imagegen.UserID) *accountRows {
	return &accountRows{Account: ledger.Account{User: u}, lots: make(map[uint64]*lot), spend: inTurn,
		expire: asTheyExpire}
}

func (s *session) scanAccounts(rows pgx.Rows) error {
	return inAccounts.scan(rows, func(a *ledger.Account) {
		s.accounts[a.User] = newAccount(a.User)
		s.accounts[a.User].Account = *a
	})
}

var errOfAnother = errors.New("postgres: the entry that a charge points to is about something else; run an audit")

// fromCharges is a query for charges with their last entries.
var fromCharges = `select c.id, ` + inEntries.of("t") + ofCharges

const ofCharges = ` from imagegend.charges c join imagegend.entries t on t.usr = c.usr and t.seq = c.seq`

var readCharges = fromCharges + ` where c.id = any($1)`

// Charge implements ledger.Tx. A charge is what its last entry leads to; its own row only says where that is.
func (s *session) Charge(id imagegen.ChargeID) (c ledger.Charge, known bool) {
	if s.charges[id] == nil {
		s.query(s.scanCharges, readCharges, list(id))
	}
	if s.charges[id] == nil {
		s.charges[id] = new(charge)
	}
	return s.charges[id].Charge, s.charges[id].known
}

// scanCharges takes charges and their entries into the session. An entry about something else is a kv.Damage.
func (s *session) scanCharges(rows pgx.Rows) error {
	return scanCharges(rows, func(id imagegen.ChargeID, e ledger.Entry) error {
		c := e.Leads()
		if c == nil || e.Charge != id {
			return kv.Damage{Err: errOfAnother}
		}
		s.journal[c.Place] = e
		s.charges[id] = &charge{Charge: *c, known: true, was: c.Place}
		return nil
	})
}

// scanCharges calls f for each row of a query fromCharges.
func scanCharges(rows pgx.Rows, f func(imagegen.ChargeID, ledger.Entry) error) error {
	var id imagegen.ChargeID
	var e entryRow
	return each(rows, func() error { return f(id, e.lift()) }, append([]any{&id}, inEntries.cells(&e)...)...)
}

// Ref implements ledger.Tx. It looks at what this session writes before it asks the database: two grants with one
// reference may be in one batch.
func (s *session) Ref(ref string) (p ledger.Place, known bool) {
	for _, e := range s.entries {
		if e.Ref == ref && ref != "" {
			return ledger.Place{User: e.User, Seq: e.Seq}, true
		}
	}
	if p, read := s.refs[ref]; read {
		return p, p != ledger.Place{}
	}
	var user string
	s.scan(func() { p.User, known = imagegen.UserID(user), true }, []any{&user, &p.Seq},
		`select usr, seq from imagegend.entries where ref = $1`, string(ref))
	return p, known
}

// Entry implements ledger.Tx. It looks at what this session writes first, then at what it has read.
func (s *session) Entry(p ledger.Place) (e ledger.Entry, known bool) {
	for _, e := range s.entries {
		if e.User == p.User && e.Seq == p.Seq {
			return e, true
		}
	}
	if e, known := s.journal[p]; known {
		return e, true
	}
	read(s, scanEntries, func(stored ledger.Entry) { e, known = stored, true },
		inEntries.from()+` where usr = $1 and seq = $2`, p.User, p.Seq)
	return e, known
}

// Write implements ledger.Tx. It changes the rows in the session; flush sends them. The account is locked by then,
// since the ledger has read it in order to decide.
func (s *session) Write(c *ledger.Change) {
	s.changes++
	a := s.account(c.Entry.User)
	a.Account, a.changed = c.To, true
	for _, l := range c.Lots {
		former := a.lots[l.To.Number]
		fresh := l.From.Number == 0 || former != nil && former.fresh
		a.lots[l.To.Number] = &lot{Lot: l.To, known: true, fresh: fresh, changed: true}
	}
	s.entries = append(s.entries, c.Entry)
	if c.Charge != nil {
		s.writeCharge(c)
	}
	s.bill(c)
}

// writeCharge notes the charge as the entry leaves it. A charge that the session did not know is made here.
func (s *session) writeCharge(to *ledger.Change) {
	_, known := s.Charge(to.Entry.Charge)
	c := s.charges[to.Entry.Charge]
	c.fresh = c.fresh || !known
	c.Charge, c.known, c.changed = *to.Charge, true, true
}

// list is one parameter for a query that asks for any of many. It leaves out what is called as nothing can be.
func list[S ~string](all ...S) []string {
	l := make([]string, 0, len(all))
	for _, s := range all {
		if storable(string(s)) {
			l = append(l, string(s))
		}
	}
	return l
}

// storable reports whether the database can have a text.
func storable(text string) bool { return !strings.Contains(text, "\x00") && utf8.ValidString(text) }
