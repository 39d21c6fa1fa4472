package tables

import (
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// What package postgres shares: it keeps generations in rows of its own, and users and keys in these tables. The
// default storage uses TakeRow, for a move.

// Row is a record as it is stored.
type Row = row

// GenerationsIn is the bucket in which rows lie, by their identifiers.
const GenerationsIn kv.Bucket = "generations"

// TakeRow adds a row of another storage, as it was stored there, to a database that has no row with its
// identifier. An imagegen.Violation: it cannot be read.
func TakeRow(tx kv.Tx, stored []byte) error {
	r, err := DecodeRow(stored)
	if err != nil {
		return imagegen.Violation{Rule: "record", Subject: string(r.ID), Detail: err.Error()}
	}
	put(tx, &row{}, &r)
	return nil
}

// EncodeRow returns a row as it is stored.
func EncodeRow(r *Row) []byte { return kv.Encode(r, codeRow) }

// DecodeRow reads a stored row.
func DecodeRow(stored []byte) (r Row, err error) {
	err = kv.Decode(stored, &r, codeRow)
	return r, err
}

// UserPlace is where a user lies.
func UserPlace(id imagegen.UserID) kv.Place {
	return kv.Place{Bucket: users.Name(), Key: kv.Key(string(id))}
}

// KeyPlace is where a key is found: by the first entry at or behind a place in an index, and in the bucket that has
// the value which the entry names. A store can read both beforehand, in one round trip.
func KeyPlace(id imagegen.KeyID) (entry kv.Place, values kv.Bucket) {
	return kv.Place{Bucket: keyByID.Name(), Key: kv.Key(string(id))}, keys.Name()
}

// LoadUser reads a user in a transaction. imagegen.ErrNotFound.
func LoadUser(tx kv.Tx, id imagegen.UserID) (imagegen.User, error) { return loadUser(tx, id) }

// LoadKey reads a key in a transaction. imagegen.ErrNotFound.
func LoadKey(tx kv.Tx, id imagegen.KeyID) (imagegen.Key, error) { return accounts{tx}.Key(id) }
