package tables

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// Of a generation that is lost the ledger knows, and of an entry of the ledger the next one. Users, keys
// and sign-ins follow from nothing else: so each of their buckets has a digest, that changes with it.

const digests kv.Bucket = "digests" // bucket → how many entries it has, and the sum of their hashes

var digested = []kv.Bucket{users, userNames, keys, keyIDs, userKeys, logins, signIns, userSignIns, invitations, userInvitations}

func hasDigest(b kv.Bucket) bool {
	switch b {
	case users, userNames, keys, keyIDs, userKeys, logins, signIns, userSignIns, invitations, userInvitations:
		return true
	}
	return false
}

// digest tells one set of entries from another, in whatever order they came.
type digest struct {
	count uint64
	sum   [sha256.Size]byte // the hashes, by exclusive or
}

func (d *digest) toggle(key, value []byte) {
	hash := sha256.New()
	var length [8]byte
	binary.BigEndian.PutUint64(length[:], uint64(len(key)))
	hash.Write(length[:])
	hash.Write(key)
	hash.Write(value)
	for i, b := range hash.Sum(nil) {
		d.sum[i] ^= b
	}
}

func (d *digest) add(key, value []byte) {
	d.count++
	d.toggle(key, value)
}

func (d *digest) remove(key, value []byte) {
	d.count--
	d.toggle(key, value)
}

// loadDigest is that of no entries where none is stored.
func loadDigest(tx kv.Tx, b kv.Bucket) (d digest) {
	if stored := tx.Get(digests, []byte(b)); len(stored) == 8+sha256.Size {
		d.count = binary.BigEndian.Uint64(stored)
		copy(d.sum[:], stored[8:])
	}
	return d
}

func (d *digest) store(tx kv.Tx, b kv.Bucket) {
	tx.Put(digests, []byte(b), append(binary.BigEndian.AppendUint64(nil, d.count), d.sum[:]...))
}

// watched is a database whose updates keep the digests.
type watched struct{ kv.DB }

func (w watched) Update(ctx context.Context, f func(kv.Tx) error) error {
	return w.DB.Update(ctx, func(tx kv.Tx) error { return f(watchedTx{tx}) })
}

type watchedTx struct{ kv.Tx }

func (t watchedTx) Put(b kv.Bucket, key, value []byte) {
	if hasDigest(b) {
		d, former := loadDigest(t.Tx, b), t.Tx.Get(b, key)
		if former != nil {
			d.remove(key, former)
		}
		d.add(key, value)
		d.store(t.Tx, b)
	}
	t.Tx.Put(b, key, value)
}

func (t watchedTx) Delete(b kv.Bucket, key []byte) {
	if hasDigest(b) {
		former := t.Tx.Get(b, key)
		if former == nil {
			return
		}
		d := loadDigest(t.Tx, b)
		d.remove(key, former)
		d.store(t.Tx, b)
	}
	t.Tx.Delete(b, key)
}

// Digest makes the digests of a database that has none yet.
func Digest(tx kv.Tx, _ []byte) (next []byte, err error) {
	for _, b := range digested {
		if d := digestOf(tx, b); d.count > 0 {
			d.store(tx, b)
		}
	}
	return nil, nil
}

func digestOf(tx kv.Tx, b kv.Bucket) (d digest) {
	tx.Ascend(b, nil, func(key, value []byte) bool {
		d.add(key, value)
		return true
	})
	return d
}

// people checks that nothing of users, keys and sign-ins was lost, and what their indexes name.
func (c *checker) people() {
	for _, b := range digested {
		is, should := digestOf(c.tx, b), loadDigest(c.tx, b)
		switch {
		case is.count != should.count:
			c.lost(b, "it has %d entries and should have %d", is.count, should.count)
		case is.sum != should.sum:
			c.lost(b, "its entries are not those that were written")
		}
	}
	value := func(_, value []byte) []byte { return value }
	c.links(userNames, users, func(_, id []byte) []byte { return kv.Key(string(id)) })
	c.links(keyIDs, keys, value)
	c.links(userKeys, keys, value)
	c.links(userInvitations, invitations, value)
	c.links(userSignIns, signIns, func(key, _ []byte) []byte {
		_, hash, _ := bytes.Cut(key, []byte{0})
		return hash
	})
}

// links checks that what an index names is there.
func (c *checker) links(index, to kv.Bucket, named func(key, value []byte) []byte) {
	c.tx.Ascend(index, nil, func(key, value []byte) bool {
		if c.tx.Get(to, named(key, value)) == nil {
			c.lost(to, "%s has %q, which is not there", index, bytes.TrimRight(key, "\x00"))
		}
		return true
	})
}

func (c *checker) lost(b kv.Bucket, format string, args ...any) {
	c.report(imagegen.Violation{Rule: "digest", Subject: string(b), Detail: fmt.Sprintf(format, args...)})
}
