// Package password hashes passwords with argon2id.
//
// A hash takes 19 MiB and some tens of milliseconds, so that a [Hasher] computes few at a time and
// lets few wait: whoever floods a sign-in form meets [ErrBusy], and the rest of the program keeps its
// memory and its processors.
package password

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"runtime"
	"sync/atomic"

	"golang.org/x/crypto/argon2"
)

// The parameters are the least that OWASP asks for: 19 MiB, two passes, one lane.
const (
	memory  = 19 << 10 // KiB
	passes  = 2
	lanes   = 1
	saltLen = 16
	keyLen  = 32
)

// waiting is how many hashes may wait for each one that is computed.
const waiting = 16

// ErrBusy says that too many hashes wait already.
var ErrBusy = errors.New("password: too many hashes wait; try again later")

// Hasher computes hashes, a few at a time. It is safe for concurrent use.
type Hasher struct {
	places   chan struct{} // of those that wait or are computed
	slots    chan struct{} // of those that are computed
	computed atomic.Int64
}

// NewHasher returns a Hasher that computes at most one hash at once for every four processors, and no
// more than four: the others are for the work.
func NewHasher() *Hasher {
	n := max(1, min(4, runtime.GOMAXPROCS(0)/4))
	return &Hasher{places: make(chan struct{}, n*(1+waiting)), slots: make(chan struct{}, n)}
}

// Hash returns a password's hash in PHC form, with a salt of its own. It fails with the context's
// error when that ends before a processor is free, and with ErrBusy.
func (h *Hasher) Hash(ctx context.Context, password string) (string, error) {
	p := phc{memory: memory, passes: passes, lanes: lanes, salt: make([]byte, saltLen)}
	rand.Read(p.salt) // never fails
	var err error
	p.key, err = h.queue(ctx, p, password, keyLen)
	if err != nil {
		return "", err
	}
	return p.String(), nil
}

// Verify reports whether the password belongs to a hash. It costs the same for "" and for what is no
// hash at all, which no password belongs to: so nobody learns by the clock whether a name has a
// password. It fails as Hash does.
func (h *Hasher) Verify(ctx context.Context, hash, password string) (bool, error) {
	return verify(ctx, hash, password, h.queue)
}

// VerifyPatiently is Verify for somebody who is not turned away though too many wait: it never fails with
// ErrBusy.
func (h *Hasher) VerifyPatiently(ctx context.Context, hash, password string) (bool, error) {
	return verify(ctx, hash, password, h.compute)
}

func verify(ctx context.Context, hash, password string, compute func(context.Context, phc, string, uint32) ([]byte, error)) (bool, error) {
	p, err := parse(hash)
	known := err == nil
	if !known {
		p = phc{memory: memory, passes: passes, lanes: lanes, salt: make([]byte, saltLen), key: make([]byte, keyLen)}
	}
	key, err := compute(ctx, p, password, uint32(len(p.key)))
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(key, p.key) == 1 && known, nil
}

// Computed tells how many hashes were computed.
func (h *Hasher) Computed() int64 { return h.computed.Load() }

// queue is compute, unless too many wait.
func (h *Hasher) queue(ctx context.Context, p phc, password string, length uint32) ([]byte, error) {
	select {
	case h.places <- struct{}{}:
		defer func() { <-h.places }()
	default:
		return nil, ErrBusy
	}
	return h.compute(ctx, p, password, length)
}

func (h *Hasher) compute(ctx context.Context, p phc, password string, length uint32) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	h.computed.Add(1)
	return argon2.IDKey([]byte(password), p.salt, p.passes, p.memory, p.lanes, length), nil
}
