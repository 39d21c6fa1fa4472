// Package kv is the foundation of the tables and the ledger of the default storage: ordered buckets of bytes that
// change in transactions, and the encoding of the values in them. Package storage implements it over a bbolt file, and
// package kvtest in memory, for tests. Package postgres implements it for what it shares with the default storage.
package kv

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// Bucket names an ordered set of keys.
type Bucket string

// Tx is one transaction. Its slices are valid until it ends and must not be changed; slices given
// to Put belong to the transaction until it ends.
//
// A value that is damaged, or a write that the database cannot take, ends the transaction with an
// error: no method returns one. Code that can go on without a value reads it within Spare.
type Tx interface {
	// Get returns the value of a key; nil if there is none.
	Get(b Bucket, key []byte) []byte
	// Put sets a value, which is not empty.
	Put(b Bucket, key, value []byte)
	// Delete removes a key. It succeeds if there is none.
	Delete(b Bucket, key []byte)
	// Ascend calls f for keys from the first ≥ from, in order, while f returns true. f must not
	// change the bucket.
	Ascend(b Bucket, from []byte, f func(key, value []byte) bool)
	// Keys calls f as Ascend does, but reads no values, so that a damaged one stops nobody.
	Keys(b Bucket, from []byte, f func(key []byte) bool)
	// Descend calls f for keys from the last < before, in falling order, while f returns true; before
	// nil means from the end. f must not change the bucket.
	Descend(b Bucket, before []byte, f func(key, value []byte) bool)
	// OnCommit has f called once the transaction is durable, before Update returns, in the order of
	// the commits. What a transaction that is rolled back or run again registered is forgotten.
	OnCommit(f func())
}

// ChargeAwaiter is an optional part of a Tx beside which other transactions charge.
type ChargeAwaiter interface {
	// AwaitCharges waits until no charge to these accounts is under way in another transaction. Later ones wait for
	// this transaction, and see what it has written.
	AwaitCharges(accounts ...imagegen.UserID)
}

// Damage is what a Tx panics with when it meets a damaged value.
type Damage struct{ Err error }

func (d Damage) Error() string { return d.Err.Error() }

// Unwrap returns what the database says of it.
func (d Damage) Unwrap() error { return d.Err }

// Spare runs f, which only reads, and returns a Damage that it meets as an error, so that the
// transaction goes on.
func Spare(f func() error) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case Damage:
			err = p
		default:
			panic(p)
		}
	}()
	return f()
}

// DB runs transactions.
type DB interface {
	// View runs f over a snapshot. f's error is returned.
	View(ctx context.Context, f func(Tx) error) error

	// Update runs f in a transaction that is durable when Update returns nil. f is a pure function
	// of the transaction: it may run more than once, together with others in one commit, and on
	// another goroutine; it sets what it captures, and never appends to it. It decides before its
	// first Put: an error for which imagegen.Definite holds must come before any write, is returned,
	// and disturbs no other transaction; an imagegen.Violation may come later, and what f wrote is
	// rolled back. A context that ends before f is taken up gives
	// imagegen.ErrNotApplied, as does a full disk; after any other error the outcome is unknown.
	Update(ctx context.Context, f func(Tx) error) error
}

// NotBegun is the error of a write whose context ended before it began; nil if it has not ended.
func NotBegun(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil {
		return fmt.Errorf("%w: %w", imagegen.ErrNotApplied, err)
	}
	return nil
}

// Unwritten makes a definite error of one that a file's write returned before it took effect; nil
// stays nil. A full disk, or quota, is an [imagegen.NotReadyError] of code "disk".
func Unwritten(err error) error {
	switch {
	case err == nil:
		return nil
	case IsFull(err):
		err = &imagegen.NotReadyError{Code: "disk", Err: err}
	}
	return fmt.Errorf("%w: %w", imagegen.ErrNotApplied, err)
}

// IsFull reports whether an error says that the disk, or the quota, is full.
func IsFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// Plain reports whether a name can be a part of a file's name, or of an object's: only letters, digits, _ and -. So it
// can leave no directory by a slash, and a dot always separates parts.
func Plain(name string) bool {
	strange := func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}
	return name != "" && !strings.ContainsFunc(name, strange)
}

// Key joins parts into a key that sorts part by part. Strings end with NUL, and so must not hold
// one; integers are big-endian.
func Key(parts ...any) []byte {
	k := make([]byte, 0, 64)
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			k = append(append(k, p...), 0)
		case uint64:
			k = binary.BigEndian.AppendUint64(k, p)
		case byte:
			k = append(k, p)
		case []byte:
			k = append(k, p...)
		default:
			panic("kv: no key can be made of this type")
		}
	}
	return k
}

// TimeKey orders times in a key: the zero time, which means never, comes last.
func TimeKey(t time.Time) uint64 {
	if t.IsZero() {
		return ^uint64(0)
	}
	return uint64(t.UnixNano()) ^ 1<<63
}

// Chained is the hash of a value that follows one with the hash previous. So no earlier value can be changed, removed
// or moved unnoticed, as long as the last hash is known.
func Chained(previous [sha256.Size]byte, value []byte) [sha256.Size]byte {
	h := sha256.New()
	h.Write(previous[:])
	h.Write(value)
	return [sha256.Size]byte(h.Sum(nil))
}
