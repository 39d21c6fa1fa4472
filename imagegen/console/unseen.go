package console

import (
	"slices"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

const (
	// unseenFor is how long a raw key waits to be shown: the browser asks for it at once.
	unseenFor = time.Minute
	// maxUnseen is how many wait for one browser; before more do, the one that has waited longest goes.
	maxUnseen = 10
)

// unseenKeys are raw keys on the way from the form that asked for them to the page that shows them.
// They wait in memory, and neither in an address nor in a cookie, which browsers keep. The answer to
// the form does not show them: to load that again would create another key.
type unseenKeys struct {
	mu   sync.Mutex
	keys map[[32]byte][]unseenKey // by the sign-in that asked: no other of its user's is shown them
}

type unseenKey struct {
	id    imagegen.KeyID
	raw   imagegen.Secret
	since time.Time
}

func (u *unseenKeys) put(signIn [32]byte, k unseenKey) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.forget(k.since)
	if u.keys == nil {
		u.keys = map[[32]byte][]unseenKey{}
	}
	waiting := append(u.keys[signIn], k)
	u.keys[signIn] = slices.Delete(waiting, 0, max(0, len(waiting)-maxUnseen))
	time.AfterFunc(unseenFor, func() { // also where nobody asks for another
		u.mu.Lock()
		defer u.mu.Unlock()
		u.forget(k.since.Add(unseenFor))
	})
}

// take returns a raw key, the first time that it is asked for.
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

// forget drops what nobody asked for in time.
func (u *unseenKeys) forget(now time.Time) {
	for signIn, waiting := range u.keys {
		waiting = slices.DeleteFunc(waiting, func(k unseenKey) bool { return now.Sub(k.since) >= unseenFor })
		if u.keys[signIn] = waiting; len(waiting) == 0 {
			delete(u.keys, signIn)
		}
	}
}
