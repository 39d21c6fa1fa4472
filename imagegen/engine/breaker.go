package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

const (
	// probeEvery and probeTime keep what readiness says at most five seconds behind, also while
	// a storage does not answer at all.
	probeEvery = time.Second
	probeTime  = 2 * time.Second
	// silence is for how long no put may succeed, while one is under way, before a probe asks whether
	// images can still be stored.
	silence = 2 * time.Second
	// maxProbe bounds the bytes of a probe. While a disk is full, it has as many as the image that could not be
	// stored, since such a disk takes a small one. Otherwise it has one byte, since a large one needs a fast storage.
	maxProbe = 16 << 20

	diskFull = "disk" // the code of a storage's NotReadyError
)

// breaker stops new work while images cannot be stored: upstreams would be paid for images that
// nobody gets. The first image that cannot be stored trips it, or a silence of the storage during
// which a probe fails. A probe that is stored resets it, and, unless a disk is full, any image.
type breaker struct {
	mu      sync.Mutex
	why     *imagegen.NotReadyError // why images cannot be stored; nil: they can
	works   chan struct{}           // closed when they can be stored again
	probing bool
	size    int64     // of the probe
	stored  time.Time // when a put succeeded last
}

// err returns why no image can be stored; nil: it can.
func (b *breaker) err() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.why == nil {
		return nil
	}
	return b.why
}

// trip notes that an image of so many bytes could not be stored.
func (b *breaker) trip(e *Engine, err error, size int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	why := notStored(err)
	if why.Code == diskFull {
		b.size = max(b.size, min(size, maxProbe))
	}
	if b.why != nil {
		return
	}
	b.why, b.works = why, make(chan struct{})
	e.cfg.Log.Error("images cannot be stored; no work is taken until they can", "reason", b.why.Code, "error", err)
	b.probe(e)
}

// watch looks for a silence until done is closed, while an image is put. A storage that is slow, but stores other
// images meanwhile, works.
func (b *breaker) watch(e *Engine, done <-chan struct{}) {
	for began := time.Now(); ; {
		select {
		case <-done:
			return
		case <-time.After(probeEvery):
			b.suspect(e, began)
		}
	}
}

// worked notes that a put succeeded.
func (b *breaker) worked(e *Engine) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stored = time.Now()
	if b.why != nil && b.why.Code != diskFull {
		b.reset(e)
	}
}

// reset says that images can be stored again. b.mu is held.
func (b *breaker) reset(e *Engine) {
	b.size = 0
	if b.why != nil {
		b.why = nil
		close(b.works)
		e.cfg.Log.Info("images can be stored again")
	}
}

// suspect has a probe decide whether images can be stored, if none was for too long.
func (b *breaker) suspect(e *Engine, began time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if time.Since(began) < silence || time.Since(b.stored) < silence {
		return
	}
	b.probe(e)
}

// probe begins to probe until a probe is stored or the engine has ended. b.mu is held.
func (b *breaker) probe(e *Engine) {
	if b.probing {
		return
	}
	b.probing = true
	p := &prober{engine: e}
	e.life.untilEnd(func() {
		for began := time.Now(); !b.noteStored(e, p.probe(b.probeSize()), began); began = time.Now() {
			select {
			case <-time.After(probeEvery):
			case <-e.life.ended:
				return
			}
		}
	})
}

func (b *breaker) probeSize() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return max(b.size, 1)
}

// noteStored notes the result of a probe, and reports whether no further one is needed.
func (b *breaker) noteStored(e *Engine, err error, began time.Time) bool {
	b.mu.Lock()
	silent := err == errSilent
	if silent {
		b.size /= 2 // a slow storage may store the next one
	}
	works := err == nil || silent && b.stored.After(began)
	if works {
		b.probing = false
		b.reset(e)
	}
	b.mu.Unlock()
	if !works {
		b.trip(e, fmt.Errorf("a probe: %w", err), 0)
	}
	return works
}

// wait waits until images can be stored. It returns false if ctx ends first.
func (b *breaker) wait(ctx context.Context) bool {
	b.mu.Lock()
	why, works := b.why, b.works
	b.mu.Unlock()
	if why == nil {
		return ctx.Err() == nil
	}
	select {
	case <-works:
		return true
	case <-ctx.Done():
		return false
	}
}

// notStored is the reason that readiness tells.
func notStored(err error) *imagegen.NotReadyError {
	code := "images"
	if n, ok := errors.AsType[*imagegen.NotReadyError](err); ok {
		code = n.Code
	}
	return &imagegen.NotReadyError{Code: code,
		Err: fmt.Errorf("images cannot be stored; what is made meanwhile is kept, and stored once they can: %w", err)}
}

// errSilent is the error of a probe that takes too long.
var errSilent = fmt.Errorf("imagegen: storing an image took longer than %v", probeTime)

// prober stores images of zeros that belong to no generation. An ImageStore may not return when
// the context ends, so a probe that is late goes on, and there is only one at a time. Probes of one
// size have one key, so that a storage that keeps what it fails to take keeps no more than one of them.
type prober struct {
	engine *Engine
	result chan error // of the probe that is under way; nil: none is
	key    imagegen.ImageKey
	size   int64 // under key
}

// probe returns nil if an image of so many bytes could be stored. It takes at most probeTime.
func (p *prober) probe(size int64) error {
	if p.result == nil {
		if size != p.size {
			id := p.engine.ids.Generation(p.engine.cfg.Now())
			p.key, p.size = imagegen.ImageKey{Generation: id, Attempt: 1, Image: imagegen.NewImageID(id)}, size
		}
		p.result = make(chan error, 1)
		go p.engine.probe(p.result, p.key, size)
	}
	select {
	case err := <-p.result:
		p.result = nil
		return err
	case <-time.After(probeTime):
		return errSilent
	}
}

// probe leaves the removal of what a failed probe may have stored to the search for orphans.
func (e *Engine) probe(result chan<- error, k imagegen.ImageKey, size int64) {
	ctx, cancel := context.WithTimeout(context.Background(), probeTime)
	defer cancel()
	err := e.putImage(ctx, k, io.LimitReader(zeros{}, size))
	if err == nil { // maybe late
		e.removeImages(ctx, k.Generation, k.Attempt)
	}
	result <- err
}

// zeros yields zeros without end.
type zeros struct{}

// Read implements [io.Reader].
func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
