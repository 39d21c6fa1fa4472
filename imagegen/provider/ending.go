package provider

import (
	"context"
	"os"
	"sync"

	"github.com/imagegend/imagegend/imagegen"
)

// ending is what ends the call; nil if nothing does.
func (f *Fake) ending(key string, faults Faults) func(context.Context) error {
	switch {
	case faults.Transient > 0 && f.failures.add(key) <= faults.Transient:
		return ends(imagegen.ClassUnavailable)
	case faults.Crash:
		return crash
	case faults.Panic:
		return func(context.Context) error { panic("provider: the fake was told to panic") }
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
		return &imagegen.ProviderError{Class: c, Message: "the fake was told so"}
	}
}

func hang(ctx context.Context) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

// crash ends the process so that no deferred call and no handler runs.
func crash(context.Context) error {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		os.Exit(137) // the status of a process that was killed
	}
	select {}
}

// maxFailures bounds how many requests are remembered.
const maxFailures = 10_000

// failures counts the calls of each request.
type failures struct {
	mu    sync.Mutex
	calls map[string]int
}

// add counts a call and returns how many there have been. When too many requests are remembered,
// one is forgotten.
func (f *failures) add(key string) int {
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
