package linear_test

import (
	"fmt"
	"hash/maphash"
	"maps"
	"slices"

	"github.com/anishathalye/porcupine"
)

// world is one way in which an account may stand, as far as the answers tell: what lost calls have
// done, and which of them may do something yet.
//
// An operation that was lost returns at infinity. To porcupine it returns at once and leaves itself
// here; each later step considers all that those left here may have done before it. That is the same,
// but the checker need not guess the moment in advance, which would cost it exponential time.
type world struct {
	account account
	pending string // calls in order, three bytes each
}

type worlds []world

// step returns the worlds in which an operation can have been answered as it was.
func (ws worlds) step(in input, said output) worlds {
	switch said.answer {
	case notApplied:
		return ws
	case lost:
		return ws.each(func(w world) worlds { return worlds{w.with(in)} })
	}
	return ws.each(func(w world) (next worlds) {
		for _, v := range w.reachable() {
			if after, want := v.account.do(in); want == said {
				next = append(next, world{after, v.pending}.pruned())
			}
		}
		return next
	})
}

// each gathers what f makes of the worlds. One that can be come by from another is left out: what
// pending calls do that makes no difference to an answer need not be considered before the next.
func (ws worlds) each(f func(world) worlds) worlds {
	var all worlds
	for _, w := range ws {
		for _, v := range f(w) {
			if !slices.Contains(all, v) {
				all = append(all, v)
			}
		}
	}
	var origins worlds
	later := map[world]bool{}
	for _, w := range slices.SortedStableFunc(slices.Values(all), mostPending) {
		if !later[w] {
			origins = append(origins, w)
			for _, v := range w.reachable() {
				later[v] = true
			}
		}
	}
	return origins
}

// mostPending sorts a world before those that it can become.
func mostPending(a, b world) int { return len(b.pending) - len(a.pending) }

// reachable is this world and those that pending calls can make of it.
func (w world) reachable() []world {
	all := []world{w}
	for i := 0; i < len(all); i++ {
		for _, in := range all[i].calls() {
			after, _ := all[i].account.do(in)
			if v := (world{after, all[i].pending}).pruned(); !slices.Contains(all, v) {
				all = append(all, v)
			}
		}
	}
	return all
}

// calls lists the pending calls.
func (w world) calls() []input {
	calls := make([]input, 0, len(w.pending)/3)
	for c := range slices.Chunk([]byte(w.pending), 3) {
		calls = append(calls, input{kind: kind(c[0]), id: c[1], amount: c[2]})
	}
	return calls
}

// with adds a pending call. One that is there twice changes no more than one.
func (w world) with(in input) world {
	calls := append(w.calls(), input{kind: in.kind, id: in.id, amount: in.amount})
	slices.SortFunc(calls, func(a, b input) int { return slices.Compare(a.packed(), b.packed()) })
	return world{w.account, packed(slices.Compact(calls))}.pruned()
}

// pruned forgets the calls that can change nothing any more.
func (w world) pruned() world {
	w.pending = packed(slices.DeleteFunc(w.calls(), w.account.deaf))
	return w
}

// deaf reports whether a call can change nothing, whatever comes.
func (a account) deaf(in input) bool {
	switch in.kind {
	case charge, create:
		return a.charges[in.id].state != absent
	case settle, finish:
		c := a.charges[in.id]
		return c.state == ended || c.state == open && in.amount > c.credits
	case grant, revoke:
		return a.refs[in.id] != 0
	}
	return true
}

func (in input) packed() []byte { return []byte{byte(in.kind), in.id, in.amount} }

func packed(calls []input) string {
	var b []byte
	for _, in := range calls {
		b = append(b, in.packed()...)
	}
	return string(b)
}

func (ws worlds) set() map[world]bool {
	s := make(map[world]bool, len(ws))
	for _, w := range ws {
		s[w] = true
	}
	return s
}

var hashSeed = maphash.MakeSeed()

// books is the ledger as porcupine sees it, account by account.
var books = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		var accounts [][]porcupine.Operation
		for _, o := range history {
			in := o.Input.(input)
			for len(accounts) <= in.account {
				accounts = append(accounts, nil)
			}
			accounts[in.account] = append(accounts[in.account], o)
		}
		return accounts
	},
	Init: func() any { return worlds{{}} },
	Step: func(state, in, out any) (bool, any) {
		next := state.(worlds).step(in.(input), out.(output))
		return len(next) > 0, next
	},
	Equal: func(a, b any) bool { return maps.Equal(a.(worlds).set(), b.(worlds).set()) },
	Hash: func(state any) (h uint64) {
		for _, w := range state.(worlds) {
			h ^= maphash.Comparable(hashSeed, w)
		}
		return h
	},
	DescribeOperation: func(in, out any) string {
		i, o := in.(input), out.(output)
		return fmt.Sprintf("%s %d: %d → %s %d %d", i.kind, i.id, i.amount, o.answer, o.credits, o.balance)
	},
	DescribeState: func(state any) string {
		var balances []uint8
		for _, w := range state.(worlds) {
			balances = append(balances, w.account.credits)
		}
		return fmt.Sprint("balance one of ", balances)
	},
}
