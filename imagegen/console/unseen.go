package console

import (
	"slices"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

const (
	// unseenFor is how long a raw key waits to be shown. A browser follows the redirect at once.
	unseenFor = time.Minute
	// maxUnseen is how many keys wait for one sign-in. One more drops the oldest.
	maxUnseen = 10
)

// unseenKeys are raw keys on their way from the form that asked for them to the page that shows them. They wait in
// memory, since browsers store addresses and cookies. The answer to the form cannot show them, since loading that
// again would create another key. With several nodes the redirect may reach another one, which does not have the key:
// its page then says that it is shown only once.
type unseenKeys struct {
	mu   sync.Mutex
	keys map[[32]byte][]unseenKey // by the sign-in that asked, oldest first; guarded by mu
}

// unseenKey is a raw key that nobody has seen yet.
type unseenKey struct {
	id    imagegen.KeyID
	raw   imagegen.Secret
	since time.Time
}

// put keeps a key for a sign-in until it is taken, or for unseenFor. A timer drops it then, even if nobody asks for
// another key: a secret should not stay in memory.
func (u *unseenKeys) put(signIn [32]byte, k unseenKey) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.forget(k.since)
	if u.keys == nil {
		u.keys = map[[32]byte][]unseenKey{}
	}
	waiting := append(u.keys[signIn], k)
	u.keys[signIn] = slices.Delete(waiting, 0, max(0, len(waiting)-maxUnseen))
	time.AfterFunc(unseenFor, func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.forget(k.since.Add(unseenFor))
	})
}

// take returns and removes a raw key; ok is false if it is not there, or was taken.
func (u *unseenKeys) take(signIn [32]byte, id imagegen.KeyID, now time.Time) (raw imagegen.Secret, ok bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.forget(now)
	waiting := u.keys[signIn]
	i := slices.IndexFunc(waiting, func(k unseenKey) bool { return k.id == id })
	if i < 0 {
		return "", false
	}
	raw = waiting[i].raw
	u.keys[signIn] = slices.Delete(waiting, i, i+1)
	return raw, true
}

// forget drops keys that have waited for unseenFor. The caller holds u.mu.
func (u *unseenKeys) forget(now time.Time) {
	for signIn, waiting := range u.keys {
		waiting = slices.DeleteFunc(waiting, func(k unseenKey) bool { return now.Sub(k.since) >= unseenFor })
		if u.keys[signIn] = waiting; len(waiting) == 0 {
			delete(u.keys, signIn)
		}
	}
}
