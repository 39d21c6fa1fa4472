package memory

import (
	"cmp"
	"context"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/feed"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/internal/rules"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

// lookup implements rules.Accounts within a transaction.
type lookup struct{ *store }

func (l lookup) User(id imagegen.UserID) (imagegen.User, error) { return found(l.users, id) }

func (l lookup) Key(id imagegen.KeyID) (imagegen.Key, error) { return found(l.keys, id) }

// Reserved implements rules.Accounts: the record that came last with the key holds it.
func (l lookup) Reserved(u imagegen.UserID, key string) (imagegen.Record, error) {
	all := l.reserved[reservation{u, imagegen.IdempotencyHash(key)}]
	if len(all) == 0 {
		return imagegen.Record{}, imagegen.ErrNotFound
	}
	return all[len(all)-1].Record, nil
}

// found looks a key up in a map. imagegen.ErrNotFound.
func found[K comparable, V any](in map[K]V, key K) (V, error) {
	v, there := in[key]
	if !there {
		return v, imagegen.ErrNotFound
	}
	return v, nil
}

// matching returns the values of a map that are wanted, sorted by order.
func matching[K comparable, V any](in map[K]V, wanted func(V) bool, order func(a, b V) int) (all []V) {
	for _, v := range in {
		if wanted(v) {
			all = append(all, v)
		}
	}
	slices.SortFunc(all, order)
	return all
}

// act runs a change in one transaction with its row in the audit trail. f changes the maps only when it can no longer
// fail: what it changes is not undone.
func (s *store) act(ctx context.Context, act account.Act, f func() (trail.Change, error)) error {
	return s.actIn(ctx, act, func(ledger.Tx) (trail.Change, error) { return f() })
}

// actIn is act for a change that looks at the books.
func (s *store) actIn(ctx context.Context, act account.Act, f func(ledger.Tx) (trail.Change, error)) error {
	at := s.books.Now()
	return trail.Act(ctx, at, act, s.rows.Update, ledger.Tx.Note, func(tx ledger.Tx) (trail.Change, error) {
		c, err := f(tx)
		if e, some := feed.OfAct(act, c, at); err == nil && some {
			s.happened(tx, e)
		}
		return c, err
	})
}

// CreateUser implements [imagegen.AccountStore]. It succeeds, and changes nothing, if the user with this identifier and
// name exists.
func (s *store) CreateUser(ctx context.Context, u imagegen.User) error {
	if err := u.ID.Check(); err != nil {
		return err
	}
	return s.act(ctx, account.ActUserCreate, func() (trail.Change, error) {
		former, err := s.userByName(u.Name)
		if err == nil && former.ID == u.ID {
			return trail.Change{}, nil
		}
		if _, taken := s.users[u.ID]; taken || err == nil {
			return trail.UserCreated(u), imagegen.ErrExists
		}
		s.users[u.ID] = u
		return trail.UserCreated(u), nil
	})
}

// CreateMember implements [imagegen.AccountStore].
func (s *store) CreateMember(ctx context.Context, u imagegen.User, most int) error {
	return s.act(ctx, account.ActUserCreate, func() (trail.Change, error) {
		if _, there := s.users[u.ID]; there {
			return trail.Change{}, nil
		}
		if _, err := s.userByName(u.Name); err == nil {
			return trail.Change{}, imagegen.ErrExists // callers could fill the trail with refusals
		}
		members := 0
		for _, m := range s.users {
			if m.Sponsor == u.Sponsor {
				members++
			}
		}
		if err := rules.Member(lookup{s}, u, members, most); err != nil {
			return trail.Change{}, err
		}
		s.users[u.ID] = u
		return trail.UserCreated(u), nil
	})
}

// userByName finds a user by name. imagegen.ErrNotFound.
func (s *store) userByName(name string) (imagegen.User, error) {
	for _, u := range s.users {
		if u.Name == name {
			return u, nil
		}
	}
	return imagegen.User{}, imagegen.ErrNotFound
}

// User implements [imagegen.AccountStore].
func (s *store) User(ctx context.Context, id imagegen.UserID) (imagegen.User, error) {
	return read(ctx, s, func() (imagegen.User, error) { return found(s.users, id) })
}

// UserByName implements [imagegen.AccountStore].
func (s *store) UserByName(ctx context.Context, name string) (imagegen.User, error) {
	return read(ctx, s, func() (imagegen.User, error) { return s.userByName(name) })
}

// Users implements [imagegen.AccountStore].
func (s *store) Users(ctx context.Context) ([]imagegen.User, error) {
	return read(ctx, s, func() ([]imagegen.User, error) {
		return matching(s.users, func(imagegen.User) bool { return true },
			func(a, b imagegen.User) int { return cmp.Compare(a.Name, b.Name) }), nil
	})
}

// UserPage implements [imagegen.Inspector].
func (s *store) UserPage(ctx context.Context, q imagegen.UserQuery) (p imagegen.UserPage, err error) {
	all, err := s.Users(ctx)
	p.Users = []imagegen.User{}
	for _, u := range all {
		if u.Name <= q.After || !q.Selects(u) {
			continue
		}
		if len(p.Users) == cmp.Or(q.Limit, imagegen.DefaultPageSize) {
			p.Next = p.Users[len(p.Users)-1].Name
			break
		}
		p.Users = append(p.Users, u)
	}
	return p, err
}

// SetAccountType implements [imagegen.AccountStore].
func (s *store) SetAccountType(ctx context.Context, id imagegen.UserID, accountType string) error {
	return s.changeUser(ctx, account.ActUserSet, id,
		func(_ ledger.Tx, u *imagegen.User) error { u.AccountType = accountType; return nil })
}

// DisableUser implements [imagegen.AccountStore].
func (s *store) DisableUser(ctx context.Context, id imagegen.UserID, at time.Time) error {
	return s.changeUser(ctx, account.ActUserDisable, id, func(_ ledger.Tx, u *imagegen.User) error {
		u.DisabledAt = cmp.Or(u.DisabledAt, at)
		return nil
	})
}

// SuspendUser implements [imagegen.AccountStore].
func (s *store) SuspendUser(ctx context.Context, id imagegen.UserID, at time.Time) error {
	return s.changeUser(ctx, account.ActUserSuspend, id, func(_ ledger.Tx, u *imagegen.User) error {
		u.SuspendedAt = cmp.Or(u.SuspendedAt, at)
		return nil
	})
}

// ResumeUser implements [imagegen.AccountStore].
func (s *store) ResumeUser(ctx context.Context, id imagegen.UserID) error {
	return s.changeUser(ctx, account.ActUserResume, id,
		func(_ ledger.Tx, u *imagegen.User) error { u.SuspendedAt = time.Time{}; return nil })
}

// SetSponsor implements [imagegen.AccountStore].
func (s *store) SetSponsor(ctx context.Context, id, sponsor imagegen.UserID, l imagegen.KeyLimits) error {
	at := s.books.Read()
	return s.changeUser(ctx, account.ActUserSponsor, id, func(tx ledger.Tx, u *imagegen.User) error {
		has := rules.Own{Credits: s.books.At(tx, at).Owns(id)}
		has.Members = slices.ContainsFunc(slices.Collect(maps.Values(s.users)),
			func(m imagegen.User) bool { return m.Sponsor == id })
		to, err := rules.Sponsor(lookup{s}, *u, sponsor, l, has)
		*u = to
		return err
	})
}

// changeUser changes a user in one transaction with the row in the audit trail. A change
// that changes nothing leaves no row.
func (s *store) changeUser(ctx context.Context, act account.Act, id imagegen.UserID,
	change func(ledger.Tx, *imagegen.User) error) error {
	return s.actIn(ctx, act, func(tx ledger.Tx) (trail.Change, error) {
		from, there := s.users[id]
		if !there {
			return trail.Change{Target: string(id), User: id}, imagegen.ErrNotFound
		}
		to := from
		if err := change(tx, &to); err != nil {
			return trail.Change{Target: string(id), User: id}, err
		}
		if reflect.DeepEqual(to, from) {
			return trail.Change{}, nil
		}
		s.users[id] = to
		return trail.UserChanged(from, to), nil
	})
}

// CreateKey implements [imagegen.AccountStore]. It succeeds, and changes nothing, if a key with this identifier and
// hash exists.
func (s *store) CreateKey(ctx context.Context, k imagegen.Key) error {
	if err := cmp.Or(k.User.Check(), k.Limits.Check()); err != nil {
		return err
	}
	return s.act(ctx, account.ActKeyCreate, func() (trail.Change, error) {
		former, there := s.keys[k.ID]
		if there && former.Hash == k.Hash {
			return trail.Change{}, nil
		}
		if _, err := s.hashed(k.Hash); there || err == nil {
			return trail.KeyCreated(k), imagegen.ErrExists
		}
		s.keys[k.ID], s.hashes[k.Hash] = k, k.ID
		return trail.KeyCreated(k), nil
	})
}

// hashed finds a key by its hash. imagegen.ErrNotFound: an unknown hash leads to the empty identifier.
func (s *store) hashed(hash [32]byte) (imagegen.Key, error) { return found(s.keys, s.hashes[hash]) }

// KeyByHash implements [imagegen.AccountStore].
func (s *store) KeyByHash(ctx context.Context, hash [32]byte) (imagegen.Key, error) {
	return read(ctx, s, func() (imagegen.Key, error) { return s.hashed(hash) })
}

// Keys implements [imagegen.AccountStore].
func (s *store) Keys(ctx context.Context, u imagegen.UserID) ([]imagegen.Key, error) {
	return read(ctx, s, func() ([]imagegen.Key, error) {
		return matching(s.keys, func(k imagegen.Key) bool { return k.User == u },
			func(a, b imagegen.Key) int { return cmp.Compare(a.ID, b.ID) }), nil
	})
}

// RevokeKey implements [imagegen.AccountStore].
func (s *store) RevokeKey(ctx context.Context, id imagegen.KeyID, at time.Time) (imagegen.Key, error) {
	return s.changeKey(ctx, account.ActKeyRevoke, id, trail.KeyRevoked, func(k *imagegen.Key) {
		k.RevokedAt = cmp.Or(k.RevokedAt, at)
	})
}

// SetKeyLimits implements [imagegen.AccountStore].
func (s *store) SetKeyLimits(ctx context.Context, id imagegen.KeyID, l imagegen.KeyLimits) (imagegen.Key, error) {
	if err := l.Check(); err != nil {
		return imagegen.Key{}, err
	}
	return s.changeKey(ctx, account.ActKeyLimit, id, trail.KeyLimited, func(k *imagegen.Key) { k.Limits = l })
}

// changeKey is changeUser for a key, which it returns. acted makes the row in the audit trail.
func (s *store) changeKey(ctx context.Context, act account.Act, id imagegen.KeyID,
	acted func(from, to imagegen.Key) trail.Change, change func(*imagegen.Key)) (k imagegen.Key, err error) {
	err = s.act(ctx, act, func() (trail.Change, error) {
		from, err := found(s.keys, id)
		if k = from; err != nil {
			return trail.Change{Target: string(id)}, err
		}
		if change(&k); reflect.DeepEqual(k, from) {
			return trail.Change{}, nil
		}
		s.keys[id] = k
		return acted(from, k), nil
	})
	return k, err
}

// TouchKeys implements [imagegen.AccountStore].
func (s *store) TouchKeys(ctx context.Context, used map[imagegen.KeyID]time.Time) error {
	return s.rows.Update(ctx, func(ledger.Tx) error {
		for id, at := range used {
			if k, there := s.keys[id]; there {
				k.LastUsedAt = at
				s.keys[id] = k
			}
		}
		return nil
	})
}
