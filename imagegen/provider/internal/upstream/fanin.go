package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// Images is what imagegen.Provider.Generate returns: images, and at most one error, which is the last.
type Images = iter.Seq2[imagegen.ProviderImage, error]

// Yield hands over an image, and returns false if no more are wanted.
type Yield = func(image io.Reader) bool

// Sequence returns the images that work yields, and then its error, unless no more images are wanted. If ctx has ended
// before, its cause is all that comes.
func Sequence(ctx context.Context, work func(Yield) error) Images {
	return func(yield func(imagegen.ProviderImage, error) bool) {
		err, wanted := context.Cause(ctx), true
		if err == nil {
			err = work(func(image io.Reader) bool {
				wanted = yield(imagegen.ProviderImage{Body: image}, nil)
				return wanted
			})
		}
		if err != nil && wanted {
			yield(imagegen.ProviderImage{}, err)
		}
	}
}

// Call makes the i-th part of a request. It returns nil if no more images are wanted.
type Call = func(ctx context.Context, i int, part imagegen.ProviderRequest, yield Yield) error

// FanIn divides r into parts of up to most images, makes a call for each at once, and yields the images of all of
// them, one at a time, as they come. A call that fails does not end the others. It returns nil if no more images are
// wanted, else of several errors the one after which a retry is least safe, or the context's cause if an image comes
// after the context has ended. Every call has returned when FanIn returns; each gets a context that is cancelled if no
// more images are wanted, or two seconds later if all have come: calls may then still read what was used. A panic in a
// call becomes its error. A single call runs on the caller's goroutine and with the caller's context, and a panic in it
// is not recovered.
func FanIn(ctx context.Context, r imagegen.ProviderRequest, most int, yield Yield, call Call) error {
	if r.N <= most {
		return call(ctx, 0, r, yield)
	}
	within, cancel := context.WithCancel(ctx)
	g := fanIn{events: make(chan event), done: make(chan struct{})}
	defer func() {
		if g.images < r.N {
			cancel()
		}
		close(g.done)
		defer time.AfterFunc(lastWords, cancel).Stop()
		g.calls.Wait()
		cancel()
	}()
	n := (r.N + most - 1) / most
	for i := range n {
		part := r.Batch(i*most, min(most, r.N-i*most))
		g.calls.Go(func() { g.run(func() error { return call(within, i, part, g.send) }) })
	}
	return g.collect(ctx, n, yield)
}

// fanIn connects the goroutines of the calls with the one that ranges over the images.
type fanIn struct {
	calls  sync.WaitGroup
	events chan event
	done   chan struct{} // closed when nobody takes events any more
	images int           // that were yielded
}

// event is either an image of a call, which waits until the image has been read, or the end of the call.
type event struct {
	image io.Reader
	read  chan<- struct{} // gets a value when the image has been read; nil at the end of the call
	err   error           // how the call ended; nil: well
}

// collect takes events until all calls have ended, ctx has ended, or no more images are wanted.
func (g *fanIn) collect(ctx context.Context, running int, yield Yield) (worst error) {
	for running > 0 {
		e := <-g.events
		if e.read == nil {
			running--
			worst = LessSafeToRetry(worst, e.err)
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		g.images++
		if !yield(e.image) {
			return nil
		}
		e.read <- struct{}{}
	}
	return worst
}

// run makes a call and sends one event at its end. A panic becomes the call's error: nobody could recover it on this
// goroutine, and it would end the process.
func (g *fanIn) run(call func() error) {
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
	err = call()
}

// send is the Yield of the calls: it waits until the image has been read.
func (g *fanIn) send(image io.Reader) bool {
	read := make(chan struct{}, 1)
	select {
	case g.events <- event{image: image, read: read}:
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

// unmade are the classes of errors after which nothing was made: the most promising first, and last those that a retry
// would meet again.
var unmade = []imagegen.Class{imagegen.ClassUnavailable, imagegen.ClassRateLimited, imagegen.ClassBlocked,
	imagegen.ClassInvalid, imagegen.ClassRefused}

// retryRisk orders errors as unmade does. Last are those after which something may have been made.
func retryRisk(err error) int {
	if p, ok := errors.AsType[*imagegen.ProviderError](err); ok && slices.Contains(unmade, p.Class) {
		return slices.Index(unmade, p.Class)
	}
	return len(unmade)
}
