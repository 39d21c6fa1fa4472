// Package limiter slows down whoever guesses passwords, or has them hashed for nothing.
//
// Failures count for the name that was tried and for the address that tried. A name is not locked:
// its failures are forgiven with time. And a browser in which the name was signed in to before, or an
// address from which it was, is counted apart, so that strangers who try a name cannot keep its owner
// out. Successes count as well, though more of them are free: each costs a hash.
package limiter

import (
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/imagegend/imagegend/internal/clientaddr"
)

// A name may fail five times, then once a minute; an address twenty times, then once in ten seconds. A
// name may be signed in to twenty times, then once in ten seconds; from an address a hundred times, then
// once in a second.
const (
	nameFailures    = 5
	nameForgiven    = time.Minute
	addressFailures = 20
	addressForgiven = 10 * time.Second

	nameSuccesses    = 20
	nameReturned     = 10 * time.Second
	addressSuccesses = 100
	addressReturned  = time.Second
)

// Attempt is a sign-in that is tried.
type Attempt struct {
	Name    string
	Address netip.Addr // the zero address is nobody's and not counted
	Browser string     // one that has proved that the name was signed in to in it; "": none has
}

// Limiter counts attempts. It holds a bounded number of names and addresses. It is safe for
// concurrent use.
type Limiter struct {
	mu        sync.Mutex
	names     *table[string]
	addresses *table[netip.Addr]
	familiar  *table[place]
	entered   *table[string]     // names that were signed in to
	arrivals  *table[netip.Addr] // and from where
}

// place is where a name was signed in to: in a browser, or at an address.
type place struct {
	name    string
	address netip.Addr
	browser string
}

// maxName is how many bytes of a name count. What is kept is a copy: a name may be a part of a long text.
const maxName = 256

func (a Attempt) place() place {
	return place{strings.Clone(a.Name[:min(len(a.Name), maxName)]), clientaddr.Network(a.Address), strings.Clone(a.Browser)}
}

// counted is the place under which what is familiar is counted: a browser takes its count along.
func (p place) counted() place {
	if p.browser != "" {
		p.address = netip.Addr{}
	}
	return p
}

// New returns a Limiter that knows at most size names and size addresses.
func New(size int) *Limiter {
	return &Limiter{
		names:     newTable[string](size, nameFailures, nameForgiven),
		addresses: newTable[netip.Addr](size, addressFailures, addressForgiven),
		familiar:  newTable[place](size, nameFailures, nameForgiven),
		entered:   newTable[string](size, nameSuccesses, nameReturned),
		arrivals:  newTable[netip.Addr](size, addressSuccesses, addressReturned),
	}
}

// Try asks whether a sign-in may be tried, and counts it as a failure until Forget or Succeeded takes it
// back: so that many at once are no way around. wait is how long to wait before the next attempt; 0: go on.
func (l *Limiter) Try(a Attempt, now time.Time) (wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := a.place()
	wait = l.entered.wait(at.name, now)
	if l.knows(at) {
		wait = max(wait, l.familiar.wait(at.counted(), now))
	} else {
		wait = max(wait, l.names.wait(at.name, now))
	}
	if at.address.IsValid() {
		wait = max(wait, l.arrivals.wait(at.address, now))
		if at.browser == "" {
			wait = max(wait, l.addresses.wait(at.address, now))
		}
	}
	if wait == 0 {
		l.count(at, 1, now)
	}
	return wait
}

// Forget takes the failure back that Try counted: it was none.
func (l *Limiter) Forget(a Attempt, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count(a.place(), -1, now)
}

// Succeeded counts a success instead of the failure, forgives the failures of the name in this browser or
// at this address, and makes the address familiar.
func (l *Limiter) Succeeded(a Attempt, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := a.place()
	l.count(at, -1, now)
	l.entered.add(at.name, 1, now)
	if at.address.IsValid() {
		l.arrivals.add(at.address, 1, now)
	}
	if at.browser != "" || at.address.IsValid() {
		l.familiar.clear(at.counted(), now)
	}
}

func (l *Limiter) knows(at place) bool { return at.browser != "" || l.familiar.has(at) }

func (l *Limiter) count(at place, n float64, now time.Time) {
	if l.knows(at) {
		l.familiar.add(at.counted(), n, now)
	} else {
		l.names.add(at.name, n, now)
	}
	if at.address.IsValid() && at.browser == "" {
		l.addresses.add(at.address, n, now)
	}
}
