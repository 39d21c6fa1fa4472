// Package limiter slows down those who guess passwords, or have them hashed for nothing.
//
// Failures count for the name and for the address of an attempt. A name is never locked: its failures are forgiven as
// time passes. A browser in which the name was signed in to before, and an address from which it was, are counted
// apart, so that strangers who try a name cannot keep its owner out. Successes count as well, though more of them are
// free, since each costs a hash.
//
// [Limiter] decides whether an attempt may be made; its counts are in the store, so that several nodes together allow
// no more than one does. [Turns] has attempts with the same name or address made one at a time, in one process.
package limiter

import (
	"context"
	"net/netip"
	"strings"
	"time"

	"github.com/imagegend/imagegend/internal/clientaddr"
)

// limit is how often something may happen at once, and the time after which it may once more.
type limit struct {
	most     int
	forgiven time.Duration
}

// The limits of an attempt, of which each has a mark in the store, and the mark of its place.
const (
	name     = iota // failures by name, from unfamiliar places
	familiar        // failures in a place where the name was signed in to
	address         // failures by address, except in known browsers
	entered         // successes by name
	arrivals        // successes by address
	place           // kept for as long as the place is familiar; it counts nothing
)

var limits = [...]limit{
	name:     {5, time.Minute},
	familiar: {5, time.Minute},
	address:  {20, 10 * time.Second},
	entered:  {20, 10 * time.Second},
	arrivals: {100, time.Second},
	place:    {},
}

// familiarFor is how long an address stays familiar to a name after it was last signed in to from there.
const familiarFor = 30 * 24 * time.Hour

// apart is how far the clocks of nodes may be apart. What lies further ahead than this and a limit allow was marked by
// a clock that has been corrected since, and counts for nothing: else it would keep somebody out until that clock's
// date.
const apart = 5 * time.Minute

// A count is stored as the time at which all of it is forgiven: so it needs no more than a mark, which the store
// forgets by itself, and nodes whose clocks differ a little count alike.

// left returns how long it takes until all is forgiven, if the store keeps the mark until then. It is never longer than
// the limit allows.
func (l limit) left(until, now time.Time) time.Duration {
	full, left := time.Duration(l.most)*l.forgiven, until.Sub(now)
	if left > full+apart {
		return 0
	}
	return max(0, min(left, full))
}

// wait returns how long it takes until something may happen once more; 0: it may now.
func (l limit) wait(until, now time.Time) time.Duration {
	return max(0, l.left(until, now)-time.Duration(l.most-1)*l.forgiven)
}

// plus returns the mark after something has happened n times more, or -n times less. There is never less than nothing.
func (l limit) plus(until, now time.Time, n int) time.Time {
	return now.Add(max(0, l.left(until, now)+time.Duration(n)*l.forgiven))
}

// Attempt is an attempt to sign in.
type Attempt struct {
	Name    string
	Address netip.Addr // the zero address is unknown, and not counted
	// Browser identifies a browser that has proved that the name was signed in to in it; "": it has not.
	Browser string
}

// maxName is how many bytes of a name count. What is kept is a copy, since a name may be part of a long text.
const maxName = 256

// counted is the attempt as it is counted, with the address reduced to its network.
func (a Attempt) counted() Attempt {
	name := strings.Clone(a.Name[:min(len(a.Name), maxName)])
	return Attempt{name, clientaddr.Network(a.Address), strings.Clone(a.Browser)}
}

// Limiter counts attempts. It is safe for concurrent use.
type Limiter struct {
	mark func(ctx context.Context, now time.Time, keys [][32]byte, change func(until []time.Time) bool) error
	hash func(ctx context.Context, parts ...string) ([32]byte, error)
}

// New returns a Limiter. mark is account.LoginStore.Mark; hash makes a key of what is counted, with a secret: some
// people type their password as a name. Errors of the two are returned.
func New(mark func(context.Context, time.Time, [][32]byte, func([]time.Time) bool) error,
	hash func(context.Context, ...string) ([32]byte, error)) *Limiter {
	return &Limiter{mark, hash}
}

// Try reports how long to wait before the attempt may be made; 0: it may be made now. Then it counts as a failure
// until Forget or Succeeded takes that back, so that many attempts at once do not get around the limit. An attempt
// that has to wait does not count, and writes nothing.
func (l *Limiter) Try(ctx context.Context, a Attempt, now time.Time) (wait time.Duration, err error) {
	err = l.change(ctx, a, now, func(m marks) bool {
		if wait = m.wait(); wait > 0 {
			return false
		}
		m.failed(1)
		return true
	})
	return wait, err
}

// Forget takes back the failure that Try counted, for an attempt whose password was not judged.
func (l *Limiter) Forget(ctx context.Context, a Attempt, now time.Time) error {
	return l.change(ctx, a, now, func(m marks) bool { m.failed(-1); return true })
}

// Succeeded turns the failure that Try counted into a success, forgives the failures of the name in this browser or
// at this address, and makes that place familiar. Failures from elsewhere stay.
func (l *Limiter) Succeeded(ctx context.Context, a Attempt, now time.Time) error {
	return l.change(ctx, a, now, func(m marks) bool {
		m.failed(-1)
		m.count(entered, 1)
		if m.Address.IsValid() {
			m.count(arrivals, 1)
		}
		m.until[familiar] = now
		if m.Browser == "" && m.Address.IsValid() {
			m.until[place] = now.Add(familiarFor)
		}
		return true
	})
}

// change passes f the marks of an attempt, and stores them as f leaves them if it returns true.
func (l *Limiter) change(ctx context.Context, a Attempt, now time.Time, f func(marks) bool) error {
	a = a.counted()
	network, where := a.Address.String(), a.Address.String()
	if a.Browser != "" { // a browser takes its count along wherever it goes
		where = "in " + a.Browser
	}
	keys := make([][32]byte, len(limits))
	for i, of := range [...][]string{name: {"name", a.Name}, familiar: {"familiar", a.Name, where},
		address: {"address", network}, entered: {"entered", a.Name},
		arrivals: {"arrivals", network}, place: {"place", a.Name, network}} {
		var err error
		if keys[i], err = l.hash(ctx, of...); err != nil {
			return err
		}
	}
	return l.mark(ctx, now, keys, func(until []time.Time) bool { return f(marks{a, until, now}) })
}

// marks are those of one attempt.
type marks struct {
	Attempt
	until []time.Time
	now   time.Time
}

func (m marks) count(i, n int) { m.until[i] = limits[i].plus(m.until[i], m.now, n) }

// failures are the limits that count a failure.
func (m marks) failures() (all []int) {
	all = []int{name}
	known := m.Address.IsValid() && !m.until[place].IsZero() && m.until[place].Sub(m.now) <= familiarFor+apart
	if m.Browser != "" || known {
		all[0] = familiar
	}
	if m.Browser == "" && m.Address.IsValid() {
		all = append(all, address)
	}
	return all
}

// failed adds n failures, or takes them back if n is negative.
func (m marks) failed(n int) {
	for _, i := range m.failures() {
		m.count(i, n)
	}
}

// wait is how long the limit takes that asks for the longest wait.
func (m marks) wait() (wait time.Duration) {
	all := append(m.failures(), entered)
	if m.Address.IsValid() {
		all = append(all, arrivals)
	}
	for _, i := range all {
		wait = max(wait, limits[i].wait(m.until[i], m.now))
	}
	return wait
}
