package imagegen

import (
	"sync"
	"time"
)

// keyUse collects when keys were last used, so that no request pays for writing it.
type keyUse struct {
	mu   sync.Mutex
	last map[KeyID]time.Time
}

func (u *keyUse) touch(id KeyID, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.last == nil {
		u.last = make(map[KeyID]time.Time)
	}
	u.last[id] = now
}

func (u *keyUse) take() map[KeyID]time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	last := u.last
	u.last = nil
	return last
}

// KeysUsed returns when keys were last used, of those that were used since it was called last.
func (a *Accounts) KeysUsed() map[KeyID]time.Time { return a.used.take() }
