package provider

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// Faults say how a call of the fake provider fails. With the zero value it does not fail: it
// yields every image that was asked for.
//
// The fields from Transient on end the call: before its first image or, if Images is set, after that many. If several
// of them are set, the first one counts.
type Faults struct {
	Delay time.Duration // before the first image, once a call
	Each  time.Duration // before every further image
	// how many are yielded, which may be fewer or more than asked for; 0: all, or none if the call is ended
	Images  int
	Corrupt bool // the images break off after their header
	Tokens  int  // what the call says that it has used, as UpstreamUsage.ImageOutput; 0: it says nothing

	Transient int  // this many calls with the same Key end with ClassUnavailable; those after them do not
	Crash     bool // kills the process, as kill -9 does; only with Fake.Crash
	Panic     bool // panics
	Hang      bool // waits for the context to end
	Refuse    bool // ends with ClassRefused
	Fail      bool // ends with ClassInvalid, which is permanent
}

// count is the number of images to yield when n were asked for.
func (f Faults) count(n int, ended bool) int {
	switch {
	case f.Images > 0:
		return f.Images
	case ended:
		return 0
	}
	return n
}

// corruptBytes is enough for the header of a PNG, 33 bytes, and less than the smallest complete PNG has.
const corruptBytes = 48

// spoil cuts an image short if Corrupt is set.
func (f Faults) spoil(image io.Reader) io.Reader {
	if f.Corrupt {
		return io.LimitReader(image, corruptBytes)
	}
	return image
}

// ending returns the function that ends the call; nil if nothing does. It counts the call towards Transient, so it must
// be called once for each call.
func (f *Fake) ending(key string, faults Faults) func(context.Context) error {
	switch {
	case faults.Transient > 0 && f.failures.increment(key) <= faults.Transient:
		return ends(imagegen.ClassUnavailable)
	case faults.Crash:
		return func(context.Context) error { f.Crash(); return nil }
	case faults.Panic:
		return func(context.Context) error { panic("provider: the fake panics, as the prompt asks") }
	case faults.Hang:
		return hang
	case faults.Refuse:
		return ends(imagegen.ClassRefused)
	case faults.Fail:
		return ends(imagegen.ClassInvalid)
	}
	return nil
}

func ends(c imagegen.Class) func(context.Context) error {
	return func(context.Context) error {
		return &imagegen.ProviderError{Class: c, Message: "the fake fails, as the prompt asks"}
	}
}

func hang(ctx context.Context) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

// maxFailures bounds how many requests are remembered, since a service that runs for long sees any number of keys.
const maxFailures = 10_000

// failures counts the calls of each request that asks for transient failures. The zero value is empty. It is safe for
// concurrent use.
type failures struct {
	mu    sync.Mutex
	calls map[string]int // by ProviderRequest.Key; guarded by mu
}

// increment counts a call and returns how many there have been. When too many requests are remembered,
// it forgets an arbitrary one, whose count then starts again.
func (f *failures) increment(key string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls == nil {
		f.calls = map[string]int{}
	}
	if _, ok := f.calls[key]; !ok && len(f.calls) >= maxFailures {
		for other := range f.calls {
			delete(f.calls, other)
			break
		}
	}
	f.calls[key]++
	return f.calls[key]
}
