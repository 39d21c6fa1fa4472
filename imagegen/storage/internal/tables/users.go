package tables

import (
	"bytes"
	"cmp"
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/rules"
	"github.com/imagegend/imagegend/imagegen/storage/internal/table"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

// Users are witnessed, since nothing else in the database shows that one was lost. Keys and everything
// about sign-ins are so too.
var (
	users     = table.New("users", func(u *imagegen.User) []byte { return kv.Key(string(u.ID)) }, codeUser).Witnessed()
	userNames = users.Index("names", func(u *imagegen.User) []byte { return kv.Key(u.Name) })
	members   = users.Index("members", func(u *imagegen.User) []byte {
		if u.Sponsor == "" {
			return nil
		}
		return kv.Key(string(u.Sponsor), u.Name)
	})
)

// CreateUser implements [imagegen.AccountStore]. It succeeds, and changes nothing, if the user with this identifier
// and name exists. imagegen.ErrInvalidRequest: the identifier is not valid.
func (t *Tables) CreateUser(ctx context.Context, u imagegen.User) error {
	if err := u.ID.Check(); err != nil {
		return err
	}
	return t.act(ctx, account.ActUserCreate, func(tx kv.Tx) (trail.Change, error) {
		return create(tx, userNames, &u, trail.UserCreated(u))
	})
}

// CreateMember implements [imagegen.AccountStore]. It counts the members that there are, up to most.
func (t *Tables) CreateMember(ctx context.Context, u imagegen.User, most int) error {
	return t.act(ctx, account.ActUserCreate, func(tx kv.Tx) (trail.Change, error) {
		if users.Has(tx, kv.Key(string(u.ID))) {
			return trail.Change{}, nil
		}
		count := 0
		for range members.Keys(tx, kv.Key(string(u.Sponsor))) {
			if count++; count == most {
				break
			}
		}
		if err := rules.Member(accounts{tx}, u, count, most); err != nil {
			return trail.Change{}, err // callers could fill the trail with refusals
		}
		tx.OnCommit(func() { t.users.forget(u.ID) })
		c, err := create(tx, userNames, &u, trail.UserCreated(u))
		if err != nil {
			return trail.Change{}, err
		}
		return c, nil
	})
}

// loadUser reads a user. imagegen.ErrNotFound.
func loadUser(tx kv.Tx, id imagegen.UserID) (imagegen.User, error) {
	return users.Get(tx, kv.Key(string(id)))
}

// User implements [imagegen.AccountStore]. Every request needs it, so it reads the cache first.
func (t *Tables) User(ctx context.Context, id imagegen.UserID) (imagegen.User, error) {
	return t.users.get(id, func() (imagegen.User, error) {
		return view(ctx, t.db, func(tx kv.Tx) (imagegen.User, error) { return loadUser(tx, id) })
	})
}

// UserByName implements [imagegen.AccountStore]. It does not use the cache, which is by identifier.
func (t *Tables) UserByName(ctx context.Context, name string) (imagegen.User, error) {
	return view(ctx, t.db, func(tx kv.Tx) (imagegen.User, error) { return userNames.Find(tx, kv.Key(name)) })
}

// Users implements [imagegen.AccountStore].
func (t *Tables) Users(ctx context.Context) ([]imagegen.User, error) {
	return view(ctx, t.db, func(tx kv.Tx) ([]imagegen.User, error) {
		return userNames.Values(tx, userNames.Keys(tx, nil))
	})
}

// SetAccountType implements [imagegen.AccountStore].
func (t *Tables) SetAccountType(ctx context.Context, id imagegen.UserID, accountType string) error {
	return t.changeUser(ctx, account.ActUserSet, id, func(_ kv.Tx, u *imagegen.User) error {
		u.AccountType = accountType
		return nil
	})
}

// DisableUser implements [imagegen.AccountStore].
func (t *Tables) DisableUser(ctx context.Context, id imagegen.UserID, at time.Time) error {
	return t.changeUser(ctx, account.ActUserDisable, id, func(_ kv.Tx, u *imagegen.User) error {
		u.DisabledAt = cmp.Or(u.DisabledAt, at)
		return nil
	})
}

// SuspendUser implements [imagegen.AccountStore].
func (t *Tables) SuspendUser(ctx context.Context, id imagegen.UserID, at time.Time) error {
	return t.changeUser(ctx, account.ActUserSuspend, id, func(_ kv.Tx, u *imagegen.User) error {
		u.SuspendedAt = cmp.Or(u.SuspendedAt, at)
		return nil
	})
}

// ResumeUser implements [imagegen.AccountStore].
func (t *Tables) ResumeUser(ctx context.Context, id imagegen.UserID) error {
	return t.changeUser(ctx, account.ActUserResume, id, func(_ kv.Tx, u *imagegen.User) error {
		u.SuspendedAt = time.Time{}
		return nil
	})
}

// SetSponsor implements [imagegen.AccountStore].
func (t *Tables) SetSponsor(ctx context.Context, id, sponsor imagegen.UserID, l imagegen.KeyLimits) error {
	at := t.books.Read()
	return t.changeUser(ctx, account.ActUserSponsor, id, func(tx kv.Tx, u *imagegen.User) error {
		has := rules.Own{Members: members.First(tx, kv.Key(string(id))) != nil,
			Credits: t.books.At(booksOf(tx), at).Owns(id)}
		to, err := rules.Sponsor(accounts{tx}, *u, sponsor, l, has)
		*u = to
		return err
	})
}

// changeUser changes a user in one transaction with the row in the audit trail, and drops
// the user from the cache. A change that changes nothing writes nothing, and no row.
func (t *Tables) changeUser(ctx context.Context, act account.Act, id imagegen.UserID,
	change func(kv.Tx, *imagegen.User) error) error {
	return t.act(ctx, act, func(tx kv.Tx) (trail.Change, error) {
		from, err := loadUser(tx, id)
		if err != nil {
			return trail.Change{Target: string(id), User: id}, err
		}
		to := from
		if err := change(tx, &to); err != nil {
			return trail.Change{Target: string(id), User: id}, err
		}
		if reflect.DeepEqual(to, from) {
			return trail.Change{}, nil
		}
		awaitCharges(tx, id, from.Sponsor, to.Sponsor)
		tx.OnCommit(func() { t.users.forget(id) })
		users.Put(tx, &from, &to)
		return trail.UserChanged(from, to), nil
	})
}

// awaitCharges is called before a change that may refuse charges: once it is made, none comes that it would refuse.
func awaitCharges(tx kv.Tx, payers ...imagegen.UserID) {
	if a, ok := tx.(kv.ChargeAwaiter); ok {
		a.AwaitCharges(payers...)
	}
}

// maxNames is the most names that one page of users looks at; imagegen.Inspector promises this figure.
const maxNames = 100_000

// UserPage implements [imagegen.Inspector].
func (t *Tables) UserPage(ctx context.Context, q imagegen.UserQuery) (imagegen.UserPage, error) {
	return view(ctx, t.db, func(tx kv.Tx) (p imagegen.UserPage, err error) {
		ids, next := namesPage(tx, q, cmp.Or(q.Limit, imagegen.DefaultPageSize))
		p = imagegen.UserPage{Users: make([]imagegen.User, len(ids)), Next: next}
		for i, id := range ids {
			if p.Users[i], err = userNames.Get(tx, id); err != nil {
				return p, err
			}
		}
		return p, nil
	})
}

// namesPage finds up to n users of a query by an index alone, that of names or that of members, and returns the name
// behind which others may follow; "": there are none.
func namesPage(tx kv.Tx, q imagegen.UserQuery, n int) (ids [][]byte, next string) {
	index, of := userNames, []byte(nil)
	if q.Sponsor != "" {
		index, of = members, kv.Key(string(q.Sponsor))
	}
	last, seen := "", 0
	for e := range index.Entries(tx, slices.Concat(of, kv.Key(q.After))) {
		under, mine := bytes.CutPrefix(e.Under, of)
		if !mine {
			break
		}
		name := string(bytes.TrimSuffix(under, []byte{0}))
		if name == q.After {
			continue
		}
		match := q.Matches(name)
		if match && len(ids) == n || seen == maxNames {
			return ids, last
		}
		if match {
			ids = append(ids, e.Key)
		}
		last, seen = name, seen+1
	}
	return ids, ""
}

// A key's row is found by its hash, because that is how every request looks for it.
var (
	keys     = table.New("keys", func(k *imagegen.Key) []byte { return k.Hash[:] }, codeKey).Witnessed()
	keyByID  = keys.Index("ids", func(k *imagegen.Key) []byte { return kv.Key(string(k.ID)) })
	userKeys = keys.Index("users", func(k *imagegen.Key) []byte { return kv.Key(string(k.User), string(k.ID)) })
)

// CreateKey implements [imagegen.AccountStore]. It succeeds, and changes nothing, if a key with this identifier and
// hash exists. imagegen.ErrExists: another key has the identifier or the hash. imagegen.ErrInvalidRequest: the
// user's identifier or the limits are not valid. It does not ask whether the user exists, who may be the embedder's.
func (t *Tables) CreateKey(ctx context.Context, k imagegen.Key) error {
	if err := cmp.Or(k.User.Check(), k.Limits.Check()); err != nil {
		return err
	}
	return t.act(ctx, account.ActKeyCreate, func(tx kv.Tx) (trail.Change, error) {
		return create(tx, keyByID, &k, trail.KeyCreated(k))
	})
}

// KeyByHash implements [imagegen.AccountStore]. Every request needs it, so it reads the cache first.
func (t *Tables) KeyByHash(ctx context.Context, hash [32]byte) (imagegen.Key, error) {
	return t.keys.get(hash, func() (imagegen.Key, error) {
		return view(ctx, t.db, func(tx kv.Tx) (imagegen.Key, error) { return keys.Get(tx, hash[:]) })
	})
}

// Keys implements [imagegen.AccountStore]. Identifiers rise with time.
func (t *Tables) Keys(ctx context.Context, u imagegen.UserID) ([]imagegen.Key, error) {
	return view(ctx, t.db, func(tx kv.Tx) ([]imagegen.Key, error) {
		return userKeys.Values(tx, userKeys.Keys(tx, kv.Key(string(u))))
	})
}

// RevokeKey implements [imagegen.AccountStore]. The key leaves the cache before the caller is answered, so no request
// of this process that begins later is let in by it.
func (t *Tables) RevokeKey(ctx context.Context, id imagegen.KeyID, at time.Time) (imagegen.Key, error) {
	return t.changeKey(ctx, account.ActKeyRevoke, id, trail.KeyRevoked, func(k *imagegen.Key) {
		k.RevokedAt = cmp.Or(k.RevokedAt, at)
	})
}

// SetKeyLimits implements [imagegen.AccountStore]. imagegen.ErrInvalidRequest: the limits are out of range.
func (t *Tables) SetKeyLimits(ctx context.Context, id imagegen.KeyID, l imagegen.KeyLimits) (imagegen.Key, error) {
	if err := l.Check(); err != nil {
		return imagegen.Key{}, err
	}
	return t.changeKey(ctx, account.ActKeyLimit, id, trail.KeyLimited, func(k *imagegen.Key) { k.Limits = l })
}

// changeKey is changeUser for a key, which it returns. acted makes the row in the audit trail.
func (t *Tables) changeKey(ctx context.Context, act account.Act, id imagegen.KeyID,
	acted func(from, to imagegen.Key) trail.Change, change func(*imagegen.Key)) (k imagegen.Key, err error) {
	err = t.act(ctx, act, func(tx kv.Tx) (trail.Change, error) {
		from, err := keyByID.Find(tx, kv.Key(string(id)))
		if k = from; err != nil {
			return trail.Change{Target: string(id)}, err
		}
		if change(&k); reflect.DeepEqual(k, from) {
			return trail.Change{}, nil
		}
		owner, _ := loadUser(tx, k.User) // an embedder's user is not here, and a damaged one stops nobody
		awaitCharges(tx, k.User, owner.Sponsor)
		keys.Put(tx, &from, &k)
		tx.OnCommit(func() { t.keys.forget(from.Hash) })
		return acted(from, k), nil
	})
	return k, err
}

// TouchKeys implements [imagegen.AccountStore]. It passes over a key that does not exist or cannot be read.
func (t *Tables) TouchKeys(ctx context.Context, used map[imagegen.KeyID]time.Time) error {
	return t.db.Update(ctx, func(tx kv.Tx) error {
		for id, at := range used {
			from, err := keyByID.Find(tx, kv.Key(string(id)))
			if err != nil {
				continue
			}
			to := from
			to.LastUsedAt = at
			keys.Put(tx, &from, &to)
			tx.OnCommit(func() { t.keys.forget(to.Hash) })
		}
		return nil
	})
}
