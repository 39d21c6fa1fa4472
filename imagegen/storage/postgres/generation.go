package postgres

import (
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/rules"
	"github.com/imagegend/imagegend/imagegen/storage/internal/tables"
)

// generation is a row, as it was read and as it is by now. The zero value is none.
type generation struct {
	tables.Row
	was     tables.Row
	damaged error
	changed bool
	lease   int64 // that it has from now on; 0: as it was
}

const readRows = `select id, form from imagegend.generations where id = any($1) order by id`

// load returns a row. imagegen.ErrNotFound.
func (s *session) load(id imagegen.GenerationID) (tables.Row, error) {
	g := s.rows[id]
	if g == nil {
		s.query(s.scanRows, readRows+s.locked(), list(id))
		if g = s.rows[id]; g == nil {
			g = new(generation)
			s.rows[id] = g
		}
	}
	switch {
	case g.damaged != nil:
		return tables.Row{}, g.damaged
	case g.State == imagegen.StateGone:
		return tables.Row{}, imagegen.ErrNotFound
	}
	return g.Row, nil
}

// scanRows takes rows up. One that cannot be read stops nobody else.
func (s *session) scanRows(rows pgx.Rows) error {
	var id, form []byte
	return each(rows, func() error { s.take(imagegen.GenerationID(id), form); return nil }, &id, &form)
}

func (s *session) take(id imagegen.GenerationID, form []byte) {
	r, err := decodeRow(id, form)
	s.rows[id] = &generation{Row: r, was: r, damaged: err}
}

func decodeRow(id imagegen.GenerationID, form []byte) (tables.Row, error) {
	r, err := tables.DecodeRow(form)
	if err == nil && r.ID != id {
		err = errors.New("it is another's")
	}
	if err != nil {
		return tables.Row{}, kv.Damage{Err: fmt.Errorf("postgres: generation %q cannot be read; run an audit: %w", id, err)}
	}
	return r, nil
}

func (s *session) scanHolders(rows pgx.Rows) error {
	var user, key, id, form []byte
	return each(rows, func() error {
		h := holder{imagegen.UserID(user), [32]byte(key)}
		s.holders[h] = imagegen.GenerationID(id)
		if s.rows[s.holders[h]] == nil {
			s.take(s.holders[h], form) // its row is not locked: nobody writes it by way of this
		}
		return nil
	}, &user, &key, &id, &form)
}

// holder returns the row that holds a user's idempotency key. imagegen.ErrNotFound.
func (s *session) holder(u imagegen.UserID, key string) (tables.Row, error) {
	h := holder{u, imagegen.IdempotencyHash(key)}
	id, known := s.holders[h]
	if !known {
		s.query(s.scanHolders, lastHolders, list(u), [][]byte{h.key[:]})
		id = s.holders[h]
		s.holders[h] = id
	}
	if id == "" {
		return tables.Row{}, imagegen.ErrNotFound
	}
	return s.load(id)
}

// asked are rules.Accounts in a session.
type asked struct{ *session }

func (a asked) User(id imagegen.UserID) (imagegen.User, error) { return tables.LoadUser(&a.kept, id) }
func (a asked) Key(id imagegen.KeyID) (imagegen.Key, error)    { return tables.LoadKey(&a.kept, id) }
func (a asked) Reserved(u imagegen.UserID, key string) (imagegen.Record, error) {
	r, err := a.holder(u, key)
	return r.Record, err
}

// apply is a change to a row. imagegen.ErrStale if there is none, or another attempt owns it.
func (s *session) apply(f imagegen.Fence, c imagegen.Change) (from, to tables.Row, changed bool, err error) {
	from, err = s.load(f.ID)
	if errors.Is(err, imagegen.ErrNotFound) {
		return tables.Row{}, tables.Row{}, false, imagegen.ErrStale
	}
	if err != nil {
		return tables.Row{}, tables.Row{}, false, err
	}
	to = from
	to.Record, changed, err = from.Apply(f.Attempt, c)
	return from, to, changed, err
}

// grace is the lease of a record that begins to run by an Update, which names none.
const grace = 30 * time.Second

// replace writes a row in the place of another; either may be zero. lease 0: it stays, or begins with grace. An
// imagegen.Violation: the row does not fit the charge that was made with it.
func (s *session) replace(from, to tables.Row, lease time.Duration) (tables.Row, error) {
	to.Due = time.Time{}
	if to.State == imagegen.StateQueued && to.Delay > 0 {
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
		clear(s.holders) // the key is held as if it had never been
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
		g.lease = s.at.Now.Add(lease).UnixNano()
	}
	to.Record = rules.Clone(to.Record)
	g.Row, g.changed = to, true
	s.changes++
	if to.State == imagegen.StateQueued {
		s.OnCommit(s.db.wake.all)
	}
	to.Record = rules.Clone(to.Record)
	return to, nil
}
