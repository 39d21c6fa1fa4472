package limiter_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen/console/internal/limiter"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
)

var (
	home    = netip.MustParseAddr("192.0.2.1")
	foreign = netip.MustParseAddr("198.51.100.7")
	noon    = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
)

// node is a Limiter over a store in memory.
type node struct {
	t      *testing.T
	l      *limiter.Limiter
	db     *memory.DB
	writes *int
}

func open(t *testing.T) *node { return (&node{t: t, db: memory.New(nil), writes: new(int)}).beside() }

// beside is another Limiter over the same store.
func (n *node) beside() *node {
	mark := func(ctx context.Context, now time.Time, keys [][32]byte, change func([]time.Time) bool) error {
		return n.db.Mark(ctx, now, keys, func(until []time.Time) bool {
			if !change(until) {
				return false
			}
			*n.writes++ // one at a time
			return true
		})
	}
	hash := func(_ context.Context, parts ...string) ([32]byte, error) {
		return sha256.Sum256([]byte(fmt.Sprintf("%q", parts))), nil
	}
	return &node{n.t, limiter.New(mark, hash), n.db, n.writes}
}

func (n *node) Try(a limiter.Attempt, now time.Time) time.Duration {
	wait, err := n.l.Try(n.t.Context(), a, now)
	if err != nil {
		n.t.Error(err)
	}
	return wait
}

func (n *node) Succeeded(a limiter.Attempt, now time.Time) {
	if err := n.l.Succeeded(n.t.Context(), a, now); err != nil {
		n.t.Error(err)
	}
}

func (n *node) Forget(a limiter.Attempt, now time.Time) {
	if err := n.l.Forget(n.t.Context(), a, now); err != nil {
		n.t.Error(err)
	}
}

// tries counts how often in a row a name can be tried from an address.
func tries(l *node, name string, from netip.Addr, now time.Time) int {
	for n := range 1000 {
		if l.Try(limiter.Attempt{Name: name, Address: from}, now) > 0 {
			return n
		}
	}
	return 1000
}

// address is one of many.
func address(n int) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, byte(n >> 8), byte(n)}) }

func TestName(t *testing.T) {
	is := is.New(t)
	l := open(t)
	for i := range 5 {
		is.Equal(l.Try(limiter.Attempt{Name: "alice", Address: address(i)}, noon), time.Duration(0)) // from wherever
	}
	is.Equal(l.Try(limiter.Attempt{Name: "alice", Address: address(5)}, noon), time.Minute)
	// waiting is not made longer by trying
	is.Equal(l.Try(limiter.Attempt{Name: "alice", Address: address(6)}, noon.Add(20*time.Second)), 40*time.Second)
	is.Equal(l.Try(limiter.Attempt{Name: "bob", Address: address(6)}, noon), time.Duration(0))

	is.Equal(tries(l, "alice", address(7), noon.Add(time.Minute)), 1)
	is.Equal(tries(l, "alice", address(7), noon.Add(time.Hour)), 5) // no more than at first
}

func TestAddress(t *testing.T) {
	is := is.New(t)
	l := open(t)
	for i := range 20 {
		is.Equal(l.Try(limiter.Attempt{Name: fmt.Sprint("user", i), Address: foreign}, noon), time.Duration(0))
	}
	is.Equal(l.Try(limiter.Attempt{Name: "another", Address: foreign}, noon), 10*time.Second)
	is.Equal(l.Try(limiter.Attempt{Name: "another", Address: home}, noon), time.Duration(0))
	is.Equal(l.Try(limiter.Attempt{Name: "another", Address: foreign}, noon.Add(10*time.Second)), time.Duration(0))
}

func TestNetwork(t *testing.T) {
	for name, pair := range map[string][2]string{
		"a /64 is one":          {"2001:db8::1", "2001:db8::ffff:1"},
		"IPv4 in IPv6 is IPv4":  {"192.0.2.1", "::ffff:192.0.2.1"},
		"a zone does not help":  {"fe80::1%eth0", "fe80::2%eth1"},
		"an address is its own": {"192.0.2.1", "192.0.2.1"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			l := open(t)
			for i := range 20 {
				is.Equal(l.Try(limiter.Attempt{Name: fmt.Sprint("user", i), Address: netip.MustParseAddr(pair[i%2])},
					noon), time.Duration(0))
			}
			is.True(l.Try(limiter.Attempt{Name: "another", Address: netip.MustParseAddr(pair[0])}, noon) > 0)
		})
	}
}

func TestNobodysAddress(t *testing.T) {
	is := is.New(t)
	l := open(t)
	for i := range 100 {
		is.Equal(l.Try(limiter.Attempt{Name: fmt.Sprint("user", i), Address: netip.Addr{}}, noon), time.Duration(0))
	}
	is.Equal(tries(l, "alice", netip.Addr{}, noon), 5)
	l = open(t)
	l.Succeeded(limiter.Attempt{Name: "alice", Address: netip.Addr{}}, noon)
	is.Equal(tries(l, "alice", home, noon), 5)
	is.Equal(tries(l, "alice", netip.Addr{}, noon), 0) // nobody's address is familiar to nobody
}

// Strangers who keep trying a name do not keep its owner out.
func TestOwnerComesIn(t *testing.T) {
	is := is.New(t)
	l := open(t)
	is.Equal(l.Try(limiter.Attempt{Name: "olivia", Address: home}, noon), time.Duration(0))
	l.Succeeded(limiter.Attempt{Name: "olivia", Address: home}, noon)
	now := noon
	for i := range 200 {
		now = now.Add(time.Minute)
		tries(l, "olivia", address(i), now)
		is.True(l.Try(limiter.Attempt{Name: "olivia", Address: address(1000)}, now) > 0)
		is.Equal(l.Try(limiter.Attempt{Name: "olivia", Address: home}, now), time.Duration(0))
		l.Succeeded(limiter.Attempt{Name: "olivia", Address: home}, now)
	}
	// Somebody at the owner's address cannot guess without limit either.
	is.Equal(tries(l, "olivia", home, now), 5)
}

// A success forgives failures, but counts itself, since each costs a hash.
func TestSuccess(t *testing.T) {
	is := is.New(t)
	l := open(t)
	alice := limiter.Attempt{Name: "alice", Address: home}
	for range 4 {
		is.Equal(l.Try(alice, noon), time.Duration(0))
	}
	for range 20 {
		is.Equal(l.Try(alice, noon), time.Duration(0))
		l.Succeeded(alice, noon)
	}
	is.Equal(l.Try(alice, noon), 10*time.Second)
	for name, a := range map[string]limiter.Attempt{
		"from elsewhere":    {Name: "alice", Address: foreign},
		"in a browser":      {Name: "alice", Address: home, Browser: "one"},
		"at nobody's place": {Name: "alice"},
	} {
		t.Log(name)
		is.Equal(l.Try(a, noon), 10*time.Second)
	}
	is.Equal(tries(l, "alice", home, noon.Add(10*time.Second)), 5) // of which none had failed

	for i := range 80 { // others at the same address
		a := limiter.Attempt{Name: fmt.Sprint("user", i), Address: home}
		is.Equal(l.Try(a, noon), time.Duration(0))
		l.Succeeded(a, noon)
	}
	bob := limiter.Attempt{Name: "bob", Address: home}
	is.Equal(l.Try(bob, noon), time.Second)
	bob.Browser = "one" // which does not help
	is.Equal(l.Try(bob, noon), time.Second)
	bob.Address = foreign
	is.Equal(l.Try(bob, noon), time.Duration(0))
}

// A known browser can sign in from anywhere while strangers try the name, even from an address with too many failures.
// It cannot guess without limit either.
func TestKnownBrowser(t *testing.T) {
	is := is.New(t)
	l := open(t)
	for i := range 30 {
		tries(l, "olivia", address(i), noon)
		l.Try(limiter.Attempt{Name: fmt.Sprint("user", i), Address: foreign}, noon)
	}
	is.True(l.Try(limiter.Attempt{Name: "olivia", Address: foreign}, noon) > 0)
	for i := range 5 {
		known := limiter.Attempt{Name: "olivia", Address: address(100 + i), Browser: "one"}
		is.Equal(l.Try(known, noon), time.Duration(0))
	}
	is.Equal(l.Try(limiter.Attempt{Name: "olivia", Address: address(200), Browser: "one"}, noon), time.Minute)
	is.Equal(l.Try(limiter.Attempt{Name: "olivia", Address: foreign, Browser: "two"}, noon), time.Duration(0))
	other := limiter.Attempt{Name: "olivia", Address: foreign, Browser: "two"}
	l.Succeeded(other, noon)
	for range 5 {
		is.Equal(l.Try(other, noon), time.Duration(0))
	}
	is.Equal(l.Try(other, noon), time.Minute)
}

func TestForget(t *testing.T) {
	is := is.New(t)
	l := open(t)
	for range 100 {
		is.Equal(l.Try(limiter.Attempt{Name: "alice", Address: home}, noon), time.Duration(0))
		l.Forget(limiter.Attempt{Name: "alice", Address: home}, noon)
	}
	is.Equal(tries(l, "alice", home, noon), 5)
	l.Forget(limiter.Attempt{Name: "alice", Address: home}, noon)
	is.Equal(tries(l, "alice", home, noon), 1)
	l.Forget(limiter.Attempt{Name: "bob", Address: home}, noon) // never tried: nothing is won
	is.Equal(tries(l, "bob", foreign, noon), 5)
}

// What a fast clock marked keeps nobody out once it is right, and no place familiar. Nodes may be a few minutes apart.
func TestClockSetBack(t *testing.T) {
	is := is.New(t)
	l, alice := open(t), limiter.Attempt{Name: "alice", Address: home}
	is.Equal(tries(l, "alice", home, noon), 5)
	is.Equal(l.Try(alice, noon.Add(-5*time.Minute)), time.Minute) // by another node
	for range 20 {
		l.Forget(alice, noon)
		is.Equal(l.Try(alice, noon), time.Duration(0))
		l.Succeeded(alice, noon)
	}
	is.True(l.Try(alice, noon) > 0)
	early := noon.Add(-50 * time.Hour)
	is.Equal(tries(l, "alice", foreign, early), 5)
	is.Equal(tries(l, "alice", home, early), 0) // nor is this place familiar any more
	is.Equal(tries(l, "bob", home, early), 5)   // the address counts nothing either
}

// Several nodes on one store allow no more than one does, also at once.
func TestNodes(t *testing.T) {
	is := is.New(t)
	one := open(t)
	var allowed atomic.Int64
	var all sync.WaitGroup
	for i := range 30 {
		node := one.beside()
		all.Go(func() {
			if node.Try(limiter.Attempt{Name: "alice", Address: address(i)}, noon) == 0 {
				allowed.Add(1)
			}
		})
	}
	all.Wait()
	is.Equal(allowed.Load(), int64(5))
	one.beside().Succeeded(limiter.Attempt{Name: "bob", Address: home}, noon)
	is.Equal(tries(one, "bob", foreign, noon), 5)
	is.Equal(tries(one.beside(), "bob", home, noon), 5) // a place is familiar to all
}

// An attempt costs one write, and one that has to wait costs none.
func TestWrites(t *testing.T) {
	is := is.New(t)
	l := open(t)
	is.Equal(tries(l, "alice", home, noon), 5)
	is.Equal(*l.writes, 5)
	for range 100 {
		l.Try(limiter.Attempt{Name: "alice", Address: home}, noon)
	}
	is.Equal(*l.writes, 5)
}

// An address is familiar for a month after the last sign-in from there.
func TestFamiliarPlace(t *testing.T) {
	is := is.New(t)
	const month = 30 * 24 * time.Hour
	l, alice := open(t), limiter.Attempt{Name: "alice", Address: home}
	for d, want := range map[time.Duration]int{month - time.Second: 5, month: 0} {
		is.Equal(l.Try(alice, noon), time.Duration(0))
		l.Succeeded(alice, noon)
		is.Equal(tries(l, "alice", foreign, noon.Add(d)), 5)
		is.Equal(tries(l, "alice", home, noon.Add(d)), want)
		l = open(t)
	}
}

// Only the first 256 bytes of a name count.
func TestLongName(t *testing.T) {
	is := is.New(t)
	l := open(t)
	long := strings.Repeat("a", 1000)
	for i := range 5 {
		is.Equal(l.Try(limiter.Attempt{Name: long[:300+i], Address: address(i)}, noon), time.Duration(0))
	}
	is.True(l.Try(limiter.Attempt{Name: long, Address: home}, noon) > 0)
}
