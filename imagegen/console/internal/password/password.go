// Package password hashes passwords with argon2id.
//
// A hash takes 19 MiB and some tens of milliseconds. So a [Hasher] computes few at a time and lets few wait: somebody
// who floods a sign-in form gets [ErrBusy], and the rest of the program keeps its memory and its processors.
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

// The parameters are one of the minimal sets that OWASP recommends: 19 MiB, two passes, one lane.
const (
	memory  = 19 << 10 // KiB
	passes  = 2
	lanes   = 1
	saltLen = 16
	keyLen  = 32
)

// waiting is how many hashes may wait for each one that is being computed.
const waiting = 16

// ErrBusy says that too many hashes are waiting already.
var ErrBusy = errors.New("password: too many hashes wait; try again later")

// Hasher computes hashes, a few at a time. It is safe for concurrent use.
type Hasher struct {
	places   chan struct{} // holds an element for each hash that waits or is being computed
	slots    chan struct{} // holds an element for each hash that is being computed
	computed atomic.Int64
}

// NewHasher returns a Hasher that computes at most one hash at once for every four processors, and no more than four.
// The other processors are for generations.
func NewHasher() *Hasher {
	n := max(1, min(4, runtime.GOMAXPROCS(0)/4))
	return &Hasher{places: make(chan struct{}, n*(1+waiting)), slots: make(chan struct{}, n)}
}

// Hash returns a password's hash in PHC form, with a new salt. It fails with ErrBusy, or with the error of ctx if
// that ends before a processor is free; a computation that has begun is finished.
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

// Verify reports whether the password belongs to a hash. No password belongs to "", nor to anything else that is not
// a hash; to find that out takes as long as for a hash, so the time does not tell whether a name has a password. It
// fails as Hash does.
func (h *Hasher) Verify(ctx context.Context, hash, password string) (bool, error) {
	return verify(ctx, hash, password, h.queue)
}

// VerifyPatiently is Verify for somebody who must not be turned away: it waits however many others do, and never
// fails with ErrBusy.
func (h *Hasher) VerifyPatiently(ctx context.Context, hash, password string) (bool, error) {
	return verify(ctx, hash, password, h.compute)
}

func verify(ctx context.Context, hash, password string,
	compute func(context.Context, phc, string, uint32) ([]byte, error)) (bool, error) {
	p, err := parsePHC(hash)
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

// Computed returns how many hashes were computed, or begun.
func (h *Hasher) Computed() int64 { return h.computed.Load() }

// queue is compute, or ErrBusy if too many wait.
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
