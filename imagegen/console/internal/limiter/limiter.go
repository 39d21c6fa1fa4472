// Package limiter slows down whoever guesses passwords.
//
// Failures count for the name that was tried and for the address that tried. A name is not locked:
// its failures are forgiven with time. And an address from which the name was signed in to before is
// counted apart, so that strangers who try a name cannot keep its owner out.
package limiter

import (
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/imagegend/imagegend/internal/clientaddr"
)

// A name may fail five times, then once a minute; an address twenty times, then once in ten seconds.
const (
	nameFailures    = 5
	nameForgiven    = time.Minute
	addressFailures = 20
	addressForgiven = 10 * time.Second
)

// Limiter counts failures. It holds a bounded number of names and addresses. It is safe for
// concurrent use.
type Limiter struct {
	mu        sync.Mutex
	names     *table[string]
	addresses *table[netip.Addr]
	familiar  *table[place]
}

// place is an address from which a name was signed in to.
type place struct {
	name    string
	address netip.Addr
}

// maxName is how many bytes of a name count. What is kept is a copy: a name may be a part of a long text.
const maxName = 256

func newPlace(name string, address netip.Addr) place {
	return place{strings.Clone(name[:min(len(name), maxName)]), clientaddr.Network(address)}
}

// New returns a Limiter that knows at most size names and size addresses.
func New(size int) *Limiter {
	return &Limiter{
		names:     newTable[string](size, nameFailures, nameForgiven),
		addresses: newTable[netip.Addr](size, addressFailures, addressForgiven),
		familiar:  newTable[place](size, nameFailures, nameForgiven),
	}
}

// Try asks whether name may be tried from address, and counts the attempt as a failure until Forget
// or Succeeded takes it back: so that many at once are no way around. wait is how long to wait before
// the next attempt; 0: go on. The zero address is nobody's and not counted.
func (l *Limiter) Try(name string, address netip.Addr, now time.Time) (wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := newPlace(name, address)
	if at.address.IsValid() {
		wait = l.addresses.wait(at.address, now)
	}
	if l.familiar.has(at) {
		wait = max(wait, l.familiar.wait(at, now))
	} else {
		wait = max(wait, l.names.wait(at.name, now))
	}
	if wait == 0 {
		l.count(at, 1, now)
	}
	return wait
}

// Forget takes the failure back that Try counted: it was none.
func (l *Limiter) Forget(name string, address netip.Addr, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count(newPlace(name, address), -1, now)
}

// Succeeded is Forget, forgives the failures of the name at this address, and makes the address
// familiar.
func (l *Limiter) Succeeded(name string, address netip.Addr, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := newPlace(name, address)
	l.count(at, -1, now)
	if at.address.IsValid() {
		l.familiar.clear(at, now)
	}
}

func (l *Limiter) count(at place, n float64, now time.Time) {
	if l.familiar.has(at) {
		l.familiar.add(at, n, now)
	} else {
		l.names.add(at.name, n, now)
	}
	if at.address.IsValid() {
		l.addresses.add(at.address, n, now)
	}
}
