package postgres

import (
	"encoding/binary"
	"encoding/hex"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/table"
	"github.com/imagegend/imagegend/imagegen/storage/internal/tables"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

// The tables of users, keys, sign-ins and the trail.
var (
	users = newKind("users", 1, `id text, name text, display_name text, account_type text, created_at timestamptz,
 disabled_at timestamptz, suspended_at timestamptz, sponsor text, limit_credits bigint, limit_daily bigint,
 limit_monthly bigint, limit_at_once bigint, limit_models jsonb, notify_below bigint`, func(u *imagegen.User) []any {
		cells := append([]any{&u.ID, &u.Name, orNull(&u.Display), &u.AccountType, at(&u.CreatedAt), at(&u.DisabledAt),
			at(&u.SuspendedAt), orNull(&u.Sponsor)}, limitsOf(&u.Limits)...)
		return append(cells, &u.NotifyBelow)
	})
	apiKeys = newKind("api_keys", 1, `hash bytea, id text, usr text, name text, prefix text, created_at timestamptz,
 expires_at timestamptz, revoked_at timestamptz, last_used_at timestamptz, members bigint, limit_credits bigint,
 limit_daily bigint, limit_monthly bigint, limit_at_once bigint, limit_models jsonb`, func(k *imagegen.Key) []any {
		return append([]any{fixed(k.Hash[:]), &k.ID, &k.User, &k.Name, &k.Prefix, at(&k.CreatedAt), at(&k.ExpiresAt),
			at(&k.RevokedAt), at(&k.LastUsedAt), &k.Members}, limitsOf(&k.Limits)...)
	})
	operatorKeys = newKind("operator_keys", 1, `hash bytea, id text, name text, prefix text, scopes text,
 created_at timestamptz, expires_at timestamptz, revoked_at timestamptz`, func(k *account.OperatorKey) []any {
		return []any{fixed(k.Hash[:]), &k.ID, &k.Name, &k.Prefix, &k.Scopes, at(&k.CreatedAt), at(&k.ExpiresAt),
			at(&k.RevokedAt)}
	})
	passwords = newKind("passwords", 1, `usr text, role text, password text, changed_at timestamptz`,
		func(l *account.Login) []any { return []any{&l.User, &l.Role, orNull(&l.Password), at(&l.ChangedAt)} })
	signIns = newKind("sign_ins", 1, `hash bytea, usr text, created_at timestamptz, seen_at timestamptz,
 confirmed_at timestamptz, agent text`, func(s *account.SignIn) []any {
		return []any{fixed(s.Hash[:]), &s.User, at(&s.CreatedAt), at(&s.SeenAt), at(&s.ConfirmedAt), &s.Agent}
	})
	invitations = newKind("invitations", 1, `hash bytea, usr text, role text, expires_at timestamptz`,
		func(i *account.Invitation) []any { return []any{fixed(i.Hash[:]), &i.User, &i.Role, at(&i.ExpiresAt)} })
	passkeys = newKind("passkeys", 1, `id text, usr text, name text, credential bytea, uses bigint,
 created_at timestamptz, last_used_at timestamptz`, func(p *account.Passkey) []any {
		return []any{&p.ID, &p.User, &p.Name, &p.Credential, &p.Uses, at(&p.CreatedAt), at(&p.LastUsedAt)}
	})
	identities = newKind("identities", 2, `issuer text, subject text, usr text, created_at timestamptz`,
		func(i *account.Identity) []any { return []any{&i.Issuer, &i.Subject, &i.User, at(&i.CreatedAt)} })
	trailRows = newKind("trail", 1, `seq bigint, at timestamptz, via text, actor text, actor_usr text, address text,
 act text, target text, usr text, before text, after text, outcome text, count bigint, hash bytea`,
		func(r *trail.Stored) []any {
			return append(append([]any{&r.Seq}, trailNew.cells(&r.TrailRow)...), fixed(r.Hash[:]))
		})
	trailNew = newKind("trail_new", 0, `at timestamptz, via text, actor text, actor_usr text, address text, act text,
 target text, usr text, before text, after text, outcome text, count bigint`,
		func(r *account.TrailRow) []any {
			return []any{at(&r.Time), &r.Actor.Via, &r.Actor.Name, orNull(&r.Actor.User), orNull(&r.Actor.Address),
				&r.Act, &r.Target, orNull(&r.User), orNull(&r.Before), orNull(&r.After), &r.Outcome, &r.Count}
		})
	trailEnds = newKind("trail_ends", 1, `name text, seq bigint, hash bytea`,
		func(e *namedEnd) []any { return []any{&e.name, &e.Seq, fixed(e.Hash[:])} })
	settingsKept = newKind("settings", 1, `name text, value text`,
		func(s *setting) []any { return []any{&s.name, &s.value} })
)

func limitsOf(l *imagegen.KeyLimits) []any {
	return []any{&l.Credits, &l.Daily, &l.Monthly, &l.Concurrent, &l.Models}
}

// namedEnd is an end of the trail, with its key.
type namedEnd struct {
	name string
	trail.End
}

// setting is a value that there is one of.
type setting struct{ name, value string }

var keptUsers = keep(tables.Users, users, texts, map[*table.Index[imagegen.User]]string{
	tables.UserNames: "name", tables.Members: "sponsor name"})

// shelves has where the values of each bucket lie.
var shelves = map[kv.Bucket]shelf{
	tables.Users.Name(): keptUsers,
	tables.Keys.Name(): keep(tables.Keys, apiKeys, whole, map[*table.Index[imagegen.Key]]string{
		tables.KeyByID: "id", tables.UserKeys: "usr id"}),
	tables.OperatorKeys.Name(): keep(tables.OperatorKeys, operatorKeys, whole,
		map[*table.Index[account.OperatorKey]]string{tables.OperatorKeyByID: "id"}),
	tables.Logins.Name(): keep(tables.Logins, passwords, texts, nil),
	tables.SignIns.Name(): keep(tables.SignIns, signIns, whole,
		map[*table.Index[account.SignIn]]string{tables.UserSignIns: "usr"}),
	tables.Invitations.Name(): keep(tables.Invitations, invitations, whole,
		map[*table.Index[account.Invitation]]string{tables.UserInvitations: "usr"}),
	tables.Passkeys.Name(): keep(tables.Passkeys, passkeys, texts,
		map[*table.Index[account.Passkey]]string{tables.UserPasskeys: "usr"}),
	tables.Identities.Name(): keep(tables.Identities, identities, texts,
		map[*table.Index[account.Identity]]string{tables.UserIdentities: "usr issuer"}),
	trail.Rows: plain(trail.Rows, trailRows, func(r *trail.Stored) []byte { return kv.Key(r.Seq) },
		func(key []byte) []any { return []any{int64(binary.BigEndian.Uint64(key))} },
		(*trail.Stored).Encode, func(_, stored []byte) (trail.Stored, error) { return trail.Decode(stored) }),
	trail.Ends: plain(trail.Ends, trailEnds, func(e *namedEnd) []byte { return []byte(e.name) }, texts,
		func(e *namedEnd) []byte { return e.Encode() },
		func(key, stored []byte) (namedEnd, error) {
			e, err := trail.DecodeEnd(stored)
			return namedEnd{string(key), e}, err
		}),
	tables.CurrencyIn: one(tables.CurrencyIn, tables.CurrencyKey,
		func(v string) []byte { return []byte(v) }, func(b []byte) string { return string(b) }),
	tables.SecretIn: one(tables.SecretIn, tables.SecretKey,
		func(v string) []byte { b, _ := hex.DecodeString(v); return b }, hex.EncodeToString),
}

// plain is the shelf of a bucket without indexes.
func plain[V any](b kv.Bucket, k kind[V], key func(*V) []byte, parts func([]byte) []any, encode func(*V) []byte,
	decode func(key, stored []byte) (V, error)) *shelfOf[V] {
	return &shelfOf[V]{kind: k, bucket: b, key: key, parts: parts, encode: encode, decode: decode,
		orders: map[kv.Bucket]order[V]{b: {k.columns[:k.keys], key}}}
}

// one is the shelf of a bucket that has one value.
func one(b kv.Bucket, key string, encode func(string) []byte, decode func([]byte) string) shelf {
	s := plain(b, settingsKept, func(*setting) []byte { return []byte(key) },
		func([]byte) []any { return []any{string(b)} },
		func(s *setting) []byte { return encode(s.value) },
		func(_, stored []byte) (setting, error) { return setting{string(b), decode(stored)}, nil })
	s.only = "name = " + literal(string(b))
	return s
}
