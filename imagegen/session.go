package imagegen

import (
	"cmp"
	"context"
	"slices"
)

// Session is the Service of one user, in process.
type Session struct {
	engine *Engine
	user   UserID
	key    KeyID
	hash   [32]byte // of the key
}

var _ Service = (*Session)(nil)

// User is whose Service this is.
func (s *Session) User() UserID { return s.user }

// KeyID is the API key that the session was authenticated with; "" for one of Engine.As.
func (s *Session) KeyID() KeyID { return s.key }

// usable returns why the session's key cannot be used any more. It is asked again before a replayed answer:
// the body of a request may have taken an hour to come. What charges asks in its own commit, see
// [GenerationStore].
func (s *Session) usable(ctx context.Context) error {
	if s.key == "" {
		return nil
	}
	_, err := s.engine.accounts.KeyByHash(ctx, s.hash)
	return err
}

// Models implements [Service].
func (s *Session) Models(ctx context.Context) ([]ModelInfo, error) { return s.engine.Models(ctx) }

// Balance implements [Service].
func (s *Session) Balance(ctx context.Context) (Balance, error) {
	if err := s.user.Check(); err != nil {
		return Balance{}, err
	}
	b, err := s.engine.balance(ctx, s.user)
	if err != nil {
		return Balance{}, ToUserError(err)
	}
	b.AccountType, err = s.engine.accountType(ctx, s.user)
	return b, ToUserError(err)
}

// Generation implements [Service].
func (s *Session) Generation(ctx context.Context, id GenerationID) (Generation, error) {
	if !id.Valid() {
		return Generation{}, ErrNotFound
	}
	r, err := s.engine.Record(ctx, id)
	if err == nil && r.User != s.user {
		err = ErrNotFound
	}
	if err != nil {
		return Generation{}, err
	}
	return r.Generation(), nil
}

// Generations implements [Service].
func (s *Session) Generations(ctx context.Context, q Query) (Page, error) {
	q.Limit = cmp.Or(q.Limit, DefaultPageSize)
	switch {
	case !s.user.Valid():
		return Page{}, s.user.Check()
	case q.Limit < 1 || q.Limit > MaxPageSize:
		return Page{}, Invalid("limit must be from 1 to %d; got %d", MaxPageSize, q.Limit)
	case q.After != "" && !q.After.Valid():
		return Page{}, Invalid("after must be a generation's id, such as the next_cursor of a page before; got %.40q", q.After)
	case q.Status != "" && !slices.Contains(Statuses(), q.Status):
		return Page{}, Invalid("status must be one of %v; got %.40q", Statuses(), q.Status)
	}
	records, more, err := s.engine.store.Generations(ctx, s.user, q)
	if err != nil {
		return Page{}, ToUserError(err)
	}
	p := Page{Generations: make([]Generation, len(records))}
	for i, r := range records {
		p.Generations[i] = r.Generation()
	}
	if more && len(records) > 0 {
		p.Next = records[len(records)-1].ID
	}
	return p, nil
}
