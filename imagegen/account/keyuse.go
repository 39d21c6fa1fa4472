package account

import (
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// keyUse collects when keys were last used, so that no request pays for writing it.
type keyUse struct {
	mu   sync.Mutex
	last map[imagegen.KeyID]time.Time
}

func (u *keyUse) touch(id imagegen.KeyID, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.last == nil {
		u.last = make(map[imagegen.KeyID]time.Time)
	}
	u.last[id] = now
}

func (u *keyUse) take() map[imagegen.KeyID]time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	last := u.last
	u.last = nil
	return last
}

// KeysUsed returns when keys were last used, of those that were used since it was called last.
func (a *Accounts) KeysUsed() map[imagegen.KeyID]time.Time { return a.used.take() }
