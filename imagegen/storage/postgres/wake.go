package postgres

import (
	"sync"
	"time"
)

// wake wakes those who wait for work: when this process brings some, and now and then, since others do too.
type wake struct {
	every time.Duration // how long somebody who waits sleeps through what other processes bring
	mu    sync.Mutex
	woken chan struct{} // nil: nobody waits
	poll  *time.Timer
}

func (w *wake) channel() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.woken == nil {
		w.woken = make(chan struct{})
		w.poll = time.AfterFunc(w.every, w.all)
	}
	return w.woken
}

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
