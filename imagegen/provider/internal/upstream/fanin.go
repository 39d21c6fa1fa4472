package upstream

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/imagegend/imagegend/imagegen"
)

// Images is what imagegen.Provider.Generate returns: images, and at most one error, which is the last.
type Images = iter.Seq2[imagegen.ProviderImage, error]

// FanIn makes n calls at once and yields the images of all of them, one at a time, as they come. A
// call that fails does not end the others. The error, if any, comes last: of several errors the one
// after which a retry is least safe, or the context's cause if an image comes after the context has
// ended. Every call has returned when the iterator returns; each gets a context that is cancelled
// if no more images are wanted. A panic in a call becomes its error. A single call runs on the
// caller's goroutine and with the caller's context, and a panic in it is not recovered.
func FanIn(ctx context.Context, n int, call func(ctx context.Context, i int) Images) Images {
	if n == 1 {
		return call(ctx, 0)
	}
	return func(yield func(imagegen.ProviderImage, error) bool) {
		within, cancel := context.WithCancel(ctx)
		g := fanIn{events: make(chan event), done: make(chan struct{})}
		defer g.calls.Wait()
		defer close(g.done)
		defer cancel()
		for i := range n {
			g.calls.Go(func() { g.run(func() Images { return call(within, i) }) })
		}
		if err, wanted := g.collect(ctx, n, yield); err != nil && wanted {
			yield(imagegen.ProviderImage{}, err)
		}
	}
}

// fanIn connects the goroutines of the calls with the one that ranges over the images.
type fanIn struct {
	calls  sync.WaitGroup
	events chan event
	done   chan struct{} // closed when nobody takes events any more
}

// event is either an image of a call, which waits until the image has been read, or the end of the call.
type event struct {
	image imagegen.ProviderImage
	read  chan<- struct{} // gets a value when the image has been read; nil at the end of the call
	err   error           // how the call ended; nil: well
}

// collect takes events until all calls have ended, ctx has ended, or yield wants no more.
// wanted tells whether the error may be yielded.
func (g *fanIn) collect(ctx context.Context, running int, yield func(imagegen.ProviderImage, error) bool) (worst error, wanted bool) {
	for running > 0 {
		e := <-g.events
		if e.read == nil {
			running--
			worst = LessSafeToRetry(worst, e.err)
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx), true
		}
		if !yield(e.image, nil) {
			return nil, false
		}
		e.read <- struct{}{}
	}
	return worst, true
}

// run makes a call and sends one event at its end. A panic becomes the call's error: nobody could recover it on this
// goroutine, and it would end the process.
func (g *fanIn) run(call func() Images) {
	err := errors.New("the call ended its goroutine") // stands after runtime.Goexit
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
		select {
		case g.events <- event{err: err}:
		case <-g.done:
		}
	}()
	for image, broken := range call() {
		if broken != nil {
			err = broken
			return
		}
		if !g.send(image) {
			return
		}
	}
	err = nil
}

// send hands over an image and waits until it has been read. It returns false if no more are wanted.
func (g *fanIn) send(i imagegen.ProviderImage) bool {
	read := make(chan struct{}, 1)
	select {
	case g.events <- event{image: i, read: read}:
	case <-g.done:
		return false
	}
	select {
	case <-read:
		return true
	case <-g.done:
		return false
	}
}

// LessSafeToRetry returns the error after which a retry is less safe; a if both are equally safe. nil is the safest.
func LessSafeToRetry(a, b error) error {
	if a == nil || b != nil && retryRisk(b) > retryRisk(a) {
		return b
	}
	return a
}

// retryRisk orders errors: first those after which nothing was made, the most promising first, then those that a
// retry would meet again, and last those after which something may have been made.
func retryRisk(err error) int {
	p, ok := errors.AsType[*imagegen.ProviderError](err)
	if !ok {
		return 6
	}
	switch p.Class {
	case imagegen.ClassUnavailable:
		return 1
	case imagegen.ClassRateLimited:
		return 2
	case imagegen.ClassUnusable:
		return 3
	case imagegen.ClassInvalid:
		return 4
	case imagegen.ClassRefused:
		return 5
	}
	return 6
}
