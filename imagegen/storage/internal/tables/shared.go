package tables

import (
	"maps"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// What package postgres shares: it keeps generations in rows of its own, and users and keys in these tables. The
// default storage uses Take, for a move.

// Row is a record as it is stored.
type Row = row

// GenerationsIn is the bucket in which rows lie, by their identifiers.
const GenerationsIn kv.Bucket = "generations"

// takeRow adds a generation.
func takeRow(tx kv.Tx, stored []byte) error {
	r, err := DecodeRow(stored)
	if err == nil {
		put(tx, &row{}, &r)
	}
	return err
}

// EncodeRow returns a row as it is stored.
func EncodeRow(r *Row) []byte { return kv.Encode(r, codeRow) }

// DecodeRow reads a stored row.
func DecodeRow(stored []byte) (r Row, err error) {
	err = kv.Decode(stored, &r, codeRow)
	return r, err
}

// The tables of users, keys and sign-ins, with their indexes, for a storage that keeps their values in columns.
var (
	Users, UserNames, Members     = users, userNames, members
	Keys, KeyByID, UserKeys       = keys, keyByID, userKeys
	OperatorKeys, OperatorKeyByID = operatorKeys, operatorKeyByID
	Logins                        = logins
	SignIns, UserSignIns          = signIns, userSignIns
	Invitations, UserInvitations  = invitations, userInvitations
	Passkeys, UserPasskeys        = passkeys, userPasskeys
	Identities, UserIdentities    = identities, userIdentities
)

// The buckets that have one value each, with its key.
const (
	SecretIn, SecretKey     = secretIn, secretKey
	CurrencyIn, CurrencyKey = currencyIn, currencyKey
)

// taken are the buckets of values that others follow from, such as their places in indexes, with how one is added.
var taken = map[kv.Bucket]func(kv.Tx, []byte) error{
	GenerationsIn: takeRow, users.Name(): users.Take, keys.Name(): keys.Take, operatorKeys.Name(): operatorKeys.Take,
	logins.Name(): logins.Take, signIns.Name(): signIns.Take, invitations.Name(): invitations.Take,
	passkeys.Name(): passkeys.Take, identities.Name(): identities.Take,
}

// Moved are the buckets whose rows Take takes.
func Moved() []kv.Bucket {
	return append(slices.Collect(maps.Keys(taken)), secretIn, currencyIn)
}

// Take adds a row of another storage, as it was stored there, with what follows from it; of another bucket than those
// of this package's tables nothing does. An imagegen.Violation: it cannot be read.
func Take(tx kv.Tx, b kv.Bucket, key, stored []byte) error {
	take, follows := taken[b]
	if !follows {
		tx.Put(b, key, stored)
		return nil
	}
	if err := take(tx, stored); err != nil {
		return imagegen.Violation{Rule: "record", Subject: string(key), Detail: err.Error()}
	}
	return nil
}
