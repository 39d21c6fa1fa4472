package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
)

// Session is the [imagegen.Service] of one user, in process. It is safe for concurrent use and
// need not be closed.
type Session struct {
	engine *Engine
	user   imagegen.UserID
	key    imagegen.KeyID
	hash   [32]byte // of the key

	found  imagegen.User      // the user, as it was when the key was looked up; zero: it was not
	limits imagegen.KeyLimits // of the key at that time
	host   *Caller            // whom the host has signed in; nil: somebody else

	behalf imagegen.Key  // a key on behalf of people; zero: the key is for its user
	owner  imagegen.User // of that key
	member imagegen.User // the person who asks; zero: nobody was named, and user is the owner
	joined bool          // the member exists
}

var _ imagegen.Service = (*Session)(nil)

// User returns the user whose Service this is.
func (s *Session) User() imagegen.UserID { return s.user }

// KeyID returns the API key that the session was authenticated with; "" for a session of
// Engine.As.
func (s *Session) KeyID() imagegen.KeyID { return s.key }

// usable returns why the session's key, or the host's sign-in, can no longer be used; nil if it can. It is called
// again before a replayed answer, since the body of a request may have taken an hour to
// arrive, and while a call waits. Whatever charges checks the key in its own commit, see [imagegen.Store].
func (s *Session) usable(ctx context.Context) error {
	switch {
	case s.host != nil:
		return s.host.Still(ctx)
	case s.key == "":
		return nil
	}
	_, err := s.engine.accounts.KeyByHash(ctx, s.hash)
	if err != nil || s.member.ID == "" {
		return err
	}
	u, err := s.engine.accounts.User(ctx, s.user)
	switch {
	case err == nil:
		return s.admits(u)
	case errors.Is(err, imagegen.ErrNotFound) && !s.joined:
		return nil // nothing was charged yet
	}
	return err
}

// Models implements [imagegen.Service].
func (s *Session) Models(ctx context.Context) ([]imagegen.ModelInfo, error) {
	l, err := s.PriceList(ctx)
	if err != nil {
		return nil, err
	}
	return l.Models(ctx)
}

// Offers is Models without prices, so that no Model.Price is called: for names and what models can do.
func (s *Session) Offers(ctx context.Context) ([]imagegen.ModelInfo, error) {
	v, err := s.view(ctx)
	if err != nil {
		return nil, err
	}
	infos := s.engine.catalogs.current.Load().listedFor(v)
	for i, info := range infos {
		infos[i] = clone(info)
	}
	return infos, nil
}

// Balance implements [imagegen.Service].
func (s *Session) Balance(ctx context.Context) (imagegen.Balance, error) {
	if err := s.user.Check(); err != nil {
		return imagegen.Balance{}, err
	}
	user, err := s.account(ctx)
	if err != nil {
		return imagegen.Balance{}, err
	}
	b, err := s.engine.balanceOf(ctx, user)
	if err != nil {
		return imagegen.Balance{}, imagegen.ToUserError(err)
	}
	return *s.seen(&b), nil
}

// Generation implements [imagegen.Service].
func (s *Session) Generation(ctx context.Context, id imagegen.GenerationID) (imagegen.Generation, error) {
	r, err := s.Record(ctx, id)
	if err != nil {
		return imagegen.Generation{}, err
	}
	return r.Generation(), nil
}

// Record returns everything that is stored about one of the user's generations. ErrNotFound as
// for Generation. Every access to a generation on behalf of its owner goes through here, or
// through the store's list of the user's records.
func (s *Session) Record(ctx context.Context, id imagegen.GenerationID) (imagegen.Record, error) {
	if err := s.named(); err != nil {
		return imagegen.Record{}, err
	}
	if !id.Valid() {
		return imagegen.Record{}, imagegen.ErrNotFound
	}
	r, err := s.engine.Record(ctx, id)
	if err == nil && r.User != s.user {
		err = imagegen.ErrNotFound
	}
	if err != nil {
		return imagegen.Record{}, err
	}
	return r, nil
}

// Generations implements [imagegen.Service].
func (s *Session) Generations(ctx context.Context, q imagegen.Query) (imagegen.Page, error) {
	if err := s.named(); err != nil {
		return imagegen.Page{}, err
	}
	q.Limit = cmp.Or(q.Limit, imagegen.DefaultPageSize)
	switch {
	case !s.user.Valid():
		return imagegen.Page{}, s.user.Check()
	case q.Limit < 1 || q.Limit > imagegen.MaxPageSize:
		return imagegen.Page{}, imagegen.Invalid("limit must be from 1 to %d; got %d", imagegen.MaxPageSize, q.Limit)
	case q.After != "" && !q.After.Valid():
		return imagegen.Page{},
			imagegen.Invalid("after must be a generation's id, such as the next_cursor of a page before; got %.40q",
				q.After)
	case q.Status != "" && !slices.Contains(imagegen.Statuses(), q.Status):
		return imagegen.Page{}, imagegen.Invalid("status must be one of %v; got %.40q", imagegen.Statuses(), q.Status)
	}
	end, err := s.engine.lists.take(ctx, s.user, int64(q.Limit))
	if err != nil {
		return imagegen.Page{}, err
	}
	defer end()
	records, more, err := s.engine.store.Generations(ctx, s.user, q)
	if err != nil {
		return imagegen.Page{}, imagegen.ToUserError(err)
	}
	p := imagegen.Page{Generations: make([]imagegen.Generation, len(records))}
	for i, r := range records {
		p.Generations[i] = r.Generation()
	}
	if more && len(records) > 0 {
		p.Next = records[len(records)-1].ID
	}
	return p, nil
}

// busy returns ErrRateLimited if the session's key, or the member, has as many generations at once as it
// may have. The commit that charges decides that; busy reports it earlier, before the
// call waits for anything.
func (s *Session) busy(ctx context.Context, payer imagegen.UserID) error {
	l, ok := s.engine.ledger.(imagegen.CreditAdmin)
	if !ok {
		return nil
	}
	user, err := s.account(ctx)
	if err != nil {
		return err
	}
	if user.Limits.Concurrent > 0 {
		use, err := l.MemberUse(ctx, payer, s.user)
		if err != nil {
			return imagegen.ToUserError(err)
		}
		if over := user.CheckLimits(use, 0); errors.Is(over, imagegen.ErrRateLimited) {
			return over
		}
	}
	if s.key == "" || s.behalf.Members > 0 {
		return nil
	}
	k, err := s.engine.accounts.KeyByHash(ctx, s.hash)
	if err != nil || k.Limits.Concurrent == 0 {
		return err
	}
	use, err := l.KeyUse(ctx, payer, s.key)
	if err != nil {
		return imagegen.ToUserError(err)
	}
	if over := k.CheckLimits(use, 0); errors.Is(over, imagegen.ErrRateLimited) {
		return over
	}
	return nil
}
