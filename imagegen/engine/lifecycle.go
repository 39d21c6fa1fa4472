package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

var (
	errNotStarted = errors.New("imagegen: the engine has not been started")
	errTimeLimit  = errors.New("imagegen: the attempt reached its time limit")
)

// lifecycle counts the work that is running, and lets it end when the engine stops. An
// engine that has begun to drain never starts again.
type lifecycle struct {
	mu       sync.Mutex // guards started, draining, active and the closing of idle and ended
	started  bool
	draining bool
	active   int           // calls that were let in, and attempts
	idle     chan struct{} // closed when draining and nothing is under way

	loops     sync.WaitGroup
	leasing   sync.WaitGroup  // of the loops that prolong leases and probe the image store, to the end
	loop      context.Context // of the loops that take work, and of calls that wait; ends as soon as Stop is called
	stopLoops context.CancelFunc

	hard     context.Context // of attempts and of calls of the ledger; ends when the context of Stop does
	hardStop context.CancelCauseFunc

	ended chan struct{} // closed when Stop is through
	end   sync.Once
}

func newLifecycle() *lifecycle {
	l := &lifecycle{idle: make(chan struct{}), ended: make(chan struct{})}
	l.loop, l.stopLoops = context.WithCancel(context.Background())
	l.hard, l.hardStop = context.WithCancelCause(context.Background())
	return l
}

// accepting returns nil if work is accepted, else why not.
func (l *lifecycle) accepting() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refusal()
}

// refusal is accepting with l.mu held.
func (l *lifecycle) refusal() error {
	switch {
	case l.draining:
		return imagegen.ErrStopping
	case !l.started:
		return errNotStarted
	}
	return nil
}

// admitWork counts one piece of work until workEnded, or returns why none is accepted.
func (l *lifecycle) admitWork() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.refusal(); err != nil {
		return err
	}
	l.active++
	return nil
}

// beginAnother counts a second piece of work of a caller that has called admitWork. It cannot
// fail: admitWork holds the drain back.
func (l *lifecycle) beginAnother() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.active++
}

// workEnded ends one piece of work. The last one lets a drain finish.
func (l *lifecycle) workEnded() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.active--; l.active == 0 && l.draining {
		close(l.idle)
	}
}

// drain refuses new work from now on. It may be called again.
func (l *lifecycle) drain() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.draining {
		return
	}
	l.draining = true
	if l.active == 0 {
		close(l.idle)
	}
}

// Start begins to take work, and continues the work that an earlier process left. It returns at
// once, and may be called again. The only error is imagegen.ErrStopping: Stop was called before.
func (e *Engine) Start() error {
	l := e.life
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.draining {
		return imagegen.ErrStopping
	}
	if l.started {
		return nil
	}
	l.started = true
	if e.cfg.Work == WorkAll {
		l.loops.Go(func() { e.dispatch(l.loop) })
		l.loops.Go(func() { e.recoverAbandoned(l.loop) })
	}
	l.loops.Go(func() { e.maintain(l.loop) })
	l.leasing.Go(func() { e.prolongLeases(l.ended) })
	if e.cfg.Thumbnails {
		l.loops.Go(func() { e.thumbnails.Run(l.loop) })
	}
	return nil
}

// Stop refuses new work and waits until running work has ended; queued work stays in the Store. If
// ctx ends first, the contexts of providers end: synchronous work is settled with the images that
// are durable, asynchronous work returns to the queue for the next start. Stop then waits up to
// Config.Attempts.Grace for providers, and abandons those that do not return; their generations are settled
// or queued all the same. It returns an error if other work does not end within 5 seconds more.
// Stop may be called again, also concurrently.
func (e *Engine) Stop(ctx context.Context) error {
	l := e.life
	l.drain()
	l.stopLoops()
	// These run from the last to the first: leases are prolonged until all work has ended, and
	// removals are tried a last time after that.
	defer e.flushKeyUse()
	defer e.tellLimits()
	const lastRemovals = 2 * time.Second
	defer e.retryRemovals(context.Background(), lastRemovals)
	defer l.leasing.Wait()
	defer l.endLeasing()
	through := l.finished()
	select {
	case <-through:
		return nil
	case <-ctx.Done():
	}
	l.hardStop(imagegen.ErrStopping)
	const settling = 5 * time.Second
	select {
	case <-through:
		return nil
	case <-time.After(e.cfg.Attempts.Grace + settling):
		return fmt.Errorf("imagegen: work did not end within %v after Stop had ended its context",
			e.cfg.Attempts.Grace+settling)
	}
}

// untilEnd runs what ends when ended is closed, unless it is closed already.
func (l *lifecycle) untilEnd(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.ended:
	default:
		l.leasing.Go(f)
	}
}

// endLeasing closes ended, once.
func (l *lifecycle) endLeasing() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.end.Do(func() { close(l.ended) })
}

// finished returns a channel that is closed when no work and no loop runs. Its goroutine
// stays for as long as that takes, even after Stop has given up waiting.
func (l *lifecycle) finished() <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		<-l.idle
		l.loops.Wait()
	}()
	return done
}
