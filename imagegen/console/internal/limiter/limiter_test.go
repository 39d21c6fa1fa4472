package limiter_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen/console/internal/limiter"
	"github.com/matryer/is"
)

var (
	home    = netip.MustParseAddr("192.0.2.1")
	foreign = netip.MustParseAddr("198.51.100.7")
	noon    = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
)

// tries counts how often in a row a name can be tried from an address.
func tries(l *limiter.Limiter, name string, from netip.Addr, now time.Time) int {
	for n := range 1000 {
		if l.Try(name, from, now) > 0 {
			return n
		}
	}
	return 1000
}

// address is one of many.
func address(n int) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, byte(n >> 8), byte(n)}) }

func TestName(t *testing.T) {
	is := is.New(t)
	l := limiter.New(100)
	for i := range 5 {
		is.Equal(l.Try("alice", address(i), noon), time.Duration(0)) // from wherever
	}
	is.Equal(l.Try("alice", address(5), noon), time.Minute)
	is.Equal(l.Try("alice", address(6), noon.Add(20*time.Second)), 40*time.Second) // waiting is not made longer by trying
	is.Equal(l.Try("bob", address(6), noon), time.Duration(0))

	is.Equal(tries(l, "alice", address(7), noon.Add(time.Minute)), 1)
	is.Equal(tries(l, "alice", address(7), noon.Add(time.Hour)), 5) // no more than at first
}

func TestAddress(t *testing.T) {
	is := is.New(t)
	l := limiter.New(100)
	for i := range 20 {
		is.Equal(l.Try(fmt.Sprint("user", i), foreign, noon), time.Duration(0))
	}
	is.Equal(l.Try("another", foreign, noon), 10*time.Second)
	is.Equal(l.Try("another", home, noon), time.Duration(0))
	is.Equal(l.Try("another", foreign, noon.Add(10*time.Second)), time.Duration(0))
}

func TestNetwork(t *testing.T) {
	for name, pair := range map[string][2]string{
		"a /64 is one":          {"2001:db8::1", "2001:db8::ffff:1"},
		"IPv4 in IPv6 is IPv4":  {"192.0.2.1", "::ffff:192.0.2.1"},
		"a zone is no way out":  {"fe80::1%eth0", "fe80::2%eth1"},
		"an address is its own": {"192.0.2.1", "192.0.2.1"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			l := limiter.New(100)
			for i := range 20 {
				is.Equal(l.Try(fmt.Sprint("user", i), netip.MustParseAddr(pair[i%2]), noon), time.Duration(0))
			}
			is.True(l.Try("another", netip.MustParseAddr(pair[0]), noon) > 0)
		})
	}
}

func TestNobodysAddress(t *testing.T) {
	is := is.New(t)
	l := limiter.New(1000)
	for i := range 100 {
		is.Equal(l.Try(fmt.Sprint("user", i), netip.Addr{}, noon), time.Duration(0))
	}
	is.Equal(tries(l, "alice", netip.Addr{}, noon), 5)
	l = limiter.New(1000)
	l.Succeeded("alice", netip.Addr{}, noon)
	is.Equal(tries(l, "alice", home, noon), 5)
	is.Equal(tries(l, "alice", netip.Addr{}, noon), 0) // nobody's address is familiar to nobody
}

// Strangers who try a name for ever do not keep its owner out.
func TestOwnerComesIn(t *testing.T) {
	is := is.New(t)
	l := limiter.New(100)
	is.Equal(l.Try("olivia", home, noon), time.Duration(0))
	l.Succeeded("olivia", home, noon)
	now := noon
	for i := range 200 {
		now = now.Add(time.Minute)
		tries(l, "olivia", address(i), now)
		is.True(l.Try("olivia", address(1000), now) > 0)
		is.Equal(l.Try("olivia", home, now), time.Duration(0))
		l.Succeeded("olivia", home, now)
	}
	// Nor can who shares the owner's address guess without limit.
	is.Equal(tries(l, "olivia", home, now), 5)
}

func TestSuccess(t *testing.T) {
	is := is.New(t)
	l := limiter.New(100)
	for range 100 { // who signs in again and again is not slowed down
		is.Equal(l.Try("alice", home, noon), time.Duration(0))
		l.Succeeded("alice", home, noon)
	}
	for range 4 {
		is.Equal(l.Try("alice", home, noon), time.Duration(0))
	}
	l.Succeeded("alice", home, noon)
	is.Equal(tries(l, "alice", home, noon), 5)
}

func TestForget(t *testing.T) {
	is := is.New(t)
	l := limiter.New(100)
	for range 100 {
		is.Equal(l.Try("alice", home, noon), time.Duration(0))
		l.Forget("alice", home, noon)
	}
	is.Equal(tries(l, "alice", home, noon), 5)
	l.Forget("alice", home, noon)
	is.Equal(tries(l, "alice", home, noon), 1)
	l.Forget("bob", home, noon) // never tried: nothing is won
	is.Equal(tries(l, "bob", foreign, noon), 5)
}

func TestClockSetBack(t *testing.T) {
	is := is.New(t)
	l := limiter.New(100)
	is.Equal(tries(l, "alice", home, noon), 5)
	is.Equal(l.Try("alice", home, noon.Add(-time.Hour)), time.Minute) // nobody waits an hour for it
}

// What is remembered is bounded; who was tried last is.
func TestBounded(t *testing.T) {
	is := is.New(t)
	l := limiter.New(10)
	is.Equal(tries(l, "alice", address(0), noon), 5)
	for i := range 9 {
		l.Try(fmt.Sprint("user", i), address(i+1), noon)
	}
	is.True(l.Try("alice", address(100), noon) > 0)
	for i := range 10 {
		l.Try(fmt.Sprint("user", 100+i), address(i+100), noon)
	}
	is.Equal(l.Try("alice", address(200), noon), time.Duration(0))
	is.Equal(l.Len(), 10)
}

// Whoever sends endless names fills no memory.
func TestLongName(t *testing.T) {
	is := is.New(t)
	l := limiter.New(100)
	long := strings.Repeat("a", 1000)
	for i := range 5 {
		is.Equal(l.Try(long[:300+i], address(i), noon), time.Duration(0))
	}
	is.True(l.Try(long, home, noon) > 0)
}
