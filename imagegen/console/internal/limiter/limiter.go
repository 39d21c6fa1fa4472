// Package limiter slows down whoever guesses passwords, or has them hashed for nothing.
//
// Failures count for the name and for the address of an attempt. A name is never locked: its failures are forgiven as
// time passes. A browser in which the name was signed in to before, and an address from which it was, are counted
// apart, so that strangers who try a name cannot keep its owner out. Successes count as well, though more of them are
// free, since each costs a hash.
//
// [Limiter] decides whether an attempt may be made, [Turns] that attempts with the same name or address are made one
// at a time. Both are in memory and of one process: a restart forgives everything, and each node counts for itself.
package limiter

import (
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/imagegend/imagegend/internal/clientaddr"
)

// A name may fail five times, then once a minute; an address twenty times, then once in ten seconds. A name may be
// signed in to twenty times, then once in ten seconds; from an address a hundred times, then once a second.
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

// Attempt is an attempt to sign in.
type Attempt struct {
	Name    string
	Address netip.Addr // the zero address is unknown, and not counted
	// Browser identifies a browser that has proved that the name was signed in to in it; "": it has not.
	Browser string
}

// Limiter counts attempts. The number of names and addresses that it remembers is bounded. It is safe for concurrent
// use.
type Limiter struct {
	mu        sync.Mutex         // guards all tables
	names     *table[string]     // failures by name, from unfamiliar places
	addresses *table[netip.Addr] // failures by address, except in known browsers
	familiar  *table[place]      // failures in places where the name was signed in to
	entered   *table[string]     // successes by name
	arrivals  *table[netip.Addr] // successes by address
}

// place is where a name was signed in to: in a browser or, if that is "", at an address.
type place struct {
	name    string
	address netip.Addr
	browser string
}

// maxName is how many bytes of a name count. What is kept is a copy, since a name may be part of a long text.
const maxName = 256

// place is the place of the attempt, with the address reduced to its network.
func (a Attempt) place() place {
	return place{strings.Clone(a.Name[:min(len(a.Name), maxName)]), clientaddr.Network(a.Address), strings.Clone(a.Browser)}
}

// counted is the place under which familiar counts. For a browser the address does not matter: it takes its count along
// wherever it goes.
func (p place) counted() place {
	if p.browser != "" {
		p.address = netip.Addr{}
	}
	return p
}

// New returns a Limiter whose tables remember at most size names, addresses or places each.
func New(size int) *Limiter {
	return &Limiter{
		names:     newTable[string](size, nameFailures, nameForgiven),
		addresses: newTable[netip.Addr](size, addressFailures, addressForgiven),
		familiar:  newTable[place](size, nameFailures, nameForgiven),
		entered:   newTable[string](size, nameSuccesses, nameReturned),
		arrivals:  newTable[netip.Addr](size, addressSuccesses, addressReturned),
	}
}

// Try reports how long to wait before the attempt may be made; 0: it may be made now. Then it counts as a failure
// until Forget or Succeeded takes that back, so that many attempts at once do not get around the limit. An attempt
// that has to wait does not count.
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

// Forget takes back the failure that Try counted, for an attempt whose password was not judged.
func (l *Limiter) Forget(a Attempt, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count(a.place(), -1, now)
}

// Succeeded turns the failure that Try counted into a success, forgives the failures of the name in this browser or
// at this address, and makes that place familiar. Failures from elsewhere stay.
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

// knows reports whether a place is familiar. The caller holds l.mu.
func (l *Limiter) knows(at place) bool { return at.browser != "" || l.familiar.has(at) }

// count adds n failures, or takes them back if n is negative, in the tables that Try looks at. The caller holds l.mu.
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
