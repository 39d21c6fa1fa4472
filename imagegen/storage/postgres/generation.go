package postgres

import (
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/clock"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/internal/rules"
	"github.com/imagegend/imagegend/imagegen/storage/internal/tables"
)

// generation is a row as it was read and as it is by now. A generation that does not exist has the zero Row, and so the
// state gone; so has one that is to be deleted, but not in was. flush compares the two: what has to be inserted,
// updated or deleted, and how queue and leases follow.
type generation struct {
	tables.Row
	was     tables.Row // in the database
	changed bool
	lease   time.Time // the end of the lease that it gets; zero: its lease stays as it is
}

var readRows = fromGenerations + ` where id = any($1) order by id`

// load returns a row, which it locks in a session that writes. That there is none is remembered as well, but nothing
// keeps another transaction from making one; the insert would fail then. imagegen.ErrNotFound.
func (s *session) load(id imagegen.GenerationID) (tables.Row, error) {
	if s.rows[id] == nil {
		s.rows[id] = new(generation)
		s.query(s.scanRows, readRows+s.locked(), list(id))
	}
	return found(s.rows[id].Row, s.rows[id].State != imagegen.StateGone)
}

// scanRows takes rows into the session, as they are in the database. A statement that has waited for a row has it as it
// is by then, and what lies in other tables as that was before: the row counts more or less of it than came. Then
// errOvertaken, and the transaction is run again.
func (s *session) scanRows(rows pgx.Rows) error {
	whole := true
	err := scanGenerations(rows, func(g *genRow) {
		r := g.lift()
		whole = whole && g.counts == lay(r).counts
		s.rows[r.ID] = &generation{Row: r, was: r}
	})
	if err == nil && !whole && s.writes {
		return errOvertaken
	}
	return err
}

// scanHolders notes who holds some idempotency keys, with their rows. These are read without a lock, and only to answer
// with them. A row that a call of this batch is about was locked and read before, and is not read again here.
func (s *session) scanHolders(rows pgx.Rows) error {
	return scanGenerations(rows, func(g *genRow) {
		r := g.lift()
		s.holders[holder{r.User, g.hash}] = r.ID
		if s.rows[r.ID] == nil {
			s.rows[r.ID] = &generation{Row: r, was: r}
		}
	})
}

// holder returns the last row that was created with a user's idempotency key, whether or not it still reserves it; the
// user's account has to be locked for that to stay so. imagegen.ErrNotFound.
func (s *session) holder(u imagegen.UserID, key string) (tables.Row, error) {
	h := holder{u, imagegen.IdempotencyHash(key)}
	id, known := s.holders[h]
	if !known {
		id = s.lastHolder(h)
		s.holders[h] = id
	}
	if id == "" {
		return tables.Row{}, imagegen.ErrNotFound
	}
	return s.load(id)
}

// lastHolder is the last row with an idempotency key as things stand in this session, which may have made and removed
// rows that the database still tells otherwise of; "": there is none.
func (s *session) lastHolder(h holder) (last imagegen.GenerationID) {
	former := list[string]()
	for id, g := range s.rows {
		if h.isOf(g.was) && !h.isOf(g.Row) {
			former = append(former, string(id))
		}
	}
	s.query(s.scanHolders, lastHolders, list(h.user), [][]byte{h.key[:]}, former)
	last = s.holders[h]
	for id, g := range s.rows {
		if h.isOf(g.Row) && (last == "" || g.Nth > s.rows[last].Nth) {
			last = id
		}
	}
	return last
}

// isOf reports whether a row has the key.
func (h holder) isOf(r tables.Row) bool {
	return r.State != imagegen.StateGone && r.User == h.user && r.IdempotencyKey != "" &&
		imagegen.IdempotencyHash(r.IdempotencyKey) == h.key
}

// asked implements tables.Changes in a session, and with it rules.Accounts.
type asked struct{ *session }

func (a asked) User(id imagegen.UserID) (imagegen.User, error) {
	if _, known := a.users[id]; !known {
		a.users[id] = imagegen.User{}
		a.query(a.scanUsers, usersByID, list(id))
	}
	return found(a.users[id], a.users[id].ID != "")
}

func (a asked) Key(id imagegen.KeyID) (imagegen.Key, error) {
	if _, known := a.keys[id]; !known {
		a.keys[id] = imagegen.Key{}
		a.query(a.scanKeys, keysByID, list(id))
	}
	return found(a.keys[id], a.keys[id].ID != "")
}

// found returns what is there; otherwise imagegen.ErrNotFound.
func found[V any](v V, there bool) (V, error) {
	if !there {
		return v, imagegen.ErrNotFound
	}
	return v, nil
}

var (
	usersByID = users.from() + ` where id = any($1)`
	keysByID  = apiKeys.from() + ` where id = any($1)`
)

func (s *session) scanUsers(rows pgx.Rows) error {
	return users.scan(rows, func(u *imagegen.User) { s.users[u.ID] = *u })
}

func (s *session) scanKeys(rows pgx.Rows) error {
	return apiKeys.scan(rows, func(k *imagegen.Key) { s.keys[k.ID] = *k })
}

// queueAskers queues reads of the users and keys whose standing calls look at.
func (s *session) queueAskers(b *pgx.Batch, n need) {
	for _, id := range n.askers {
		s.users[id] = imagegen.User{}
	}
	for _, id := range n.keys {
		s.keys[id] = imagegen.Key{}
	}
	if len(n.askers) > 0 {
		b.Queue(usersByID, unique(n.askers)).Query(s.scanUsers)
	}
	if len(n.keys) > 0 {
		b.Queue(keysByID, unique(n.keys)).Query(s.scanKeys)
	}
}
func (a asked) Reserved(u imagegen.UserID, key string) (imagegen.Record, error) {
	r, err := a.holder(u, key)
	return r.Record, err
}

func (a asked) Load(id imagegen.GenerationID) (tables.Row, error) { return a.load(id) }

func (a asked) Replace(from, to tables.Row, lease time.Duration) (tables.Row, error) {
	if lease == tables.Keep {
		lease = 0
	}
	return a.replace(from, to, lease)
}

func (a asked) Books() ledger.Books { return a.db.books.At(a.session, a.at) }

func (a asked) At() clock.Reading { return a.at }

// grace is the lease of a record that an Update sets running, since an Update names no lease. The engine extends it
// like any other lease; otherwise recovery takes the record over.
const grace = 30 * time.Second

// replace writes to in the place of from, which is the row as load has returned it. A zero from: the row is created; to
// in the state gone: it is deleted. It returns the row as it is stored, in memory of its own.
//
// It decides three things that no record says by itself. Due is when the row may be claimed, by this database's judged
// time. What comes in a transaction of the host's is due at once, and the claim that finds it puts its user into the
// line (admit): a place in a line would stay locked until the host commits, and claims would wait for it. Nth counts
// the rows of one idempotency key, so that the last of them is found. The lease is lease from now; with 0 a row that
// goes on in the same attempt keeps its lease, and one that begins to run gets grace.
//
// An imagegen.Violation: the row does not fit the charge that was made with it. A kv.Damage: that charge cannot be
// read.
func (s *session) replace(from, to tables.Row, lease time.Duration) (tables.Row, error) {
	to.Due = time.Time{}
	comes := to.Hosted && from.State == imagegen.StateGone
	if to.State == imagegen.StateQueued && (to.Delay > 0 || comes) {
		to.Due = s.at.Now.Add(to.Delay)
	}
	if from.State == imagegen.StateGone && to.IdempotencyKey != "" {
		former, err := s.holder(to.User, to.IdempotencyKey)
		if err != nil && !errors.Is(err, imagegen.ErrNotFound) {
			return tables.Row{}, err
		}
		to.Nth = former.Nth + 1
		s.holders[holder{to.User, imagegen.IdempotencyHash(to.IdempotencyKey)}] = to.ID
	}
	if to.Joint {
		if err := rules.Charged(s, to.Record, true); err != nil {
			return tables.Row{}, err
		}
	}
	id := to.ID
	if to.State == imagegen.StateGone {
		id = from.ID
	}
	if h := (holder{from.User, imagegen.IdempotencyHash(from.IdempotencyKey)}); s.holders[h] == id && !h.isOf(to) {
		delete(s.holders, h) // this row has its key no longer
	}
	g := s.rows[id]
	if g == nil {
		g = new(generation)
		s.rows[id] = g
	}
	if keeps := from.Running() && from.Attempt == to.Attempt && lease == 0; to.Running() && !keeps {
		if lease == 0 {
			lease = grace
		}
		g.lease = s.at.Now.Add(lease)
	}
	s.tellRow(from, to)
	to.Record = rules.Clone(to.Record)
	g.Row, g.changed = to, true
	s.changes++
	if to.State == imagegen.StateQueued {
		s.OnCommit(s.db.wake.all)
	}
	to.Record = rules.Clone(to.Record)
	return to, nil
}
