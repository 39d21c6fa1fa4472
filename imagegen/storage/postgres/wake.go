package postgres

import (
	"sync"
	"time"
)

// wake wakes those who wait for work: as soon as a commit of this process brings some, and otherwise after every,
// since other processes bring work without telling this one. A wake without reason is harmless: the claim that follows
// finds nothing. It is safe for concurrent use.
type wake struct {
	every time.Duration // how long somebody who waits sleeps through what other processes bring
	mu    sync.Mutex    // guards the two below
	woken chan struct{} // nil: nobody waits
	poll  *time.Timer   // closes woken; as long as that is not nil
}

// channel returns a channel that is closed by the next call of all. Everybody who waits at one time shares it, and
// with it one timer: without anybody who waits none runs.
func (w *wake) channel() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.woken == nil {
		w.woken = make(chan struct{})
		w.poll = time.AfterFunc(w.every, w.all)
	}
	return w.woken
}

// all wakes everybody who waits. It never blocks.
func (w *wake) all() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.woken == nil {
		return
	}
	w.poll.Stop()
	close(w.woken)
	w.woken = nil
}
