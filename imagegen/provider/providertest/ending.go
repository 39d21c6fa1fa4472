package providertest

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

// lazy: a call does nothing until its result is ranged over.
func lazy(t *testing.T, c Config) {
	is := is.New(t)
	p := c.New(t)
	r := c.request(p)
	saved := false
	r.SaveJob = func(context.Context, []byte) error { saved = true; return nil }
	attached := attach(is, &r, min(1, p.Capabilities().MaxReferences))
	before := runtime.NumGoroutine()
	p.Generate(t.Context(), r)
	is.True(runtime.NumGoroutine() <= before) // no goroutine was started
	is.True(!saved)
	for _, a := range attached {
		is.Equal(a.opened.Load(), int64(0))
	}
}

func cancelledBefore(t *testing.T, c Config) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := c.New(t)
	returnsEmpty(t, ctx, p, c.request(p))
}

func cancelledWithin(t *testing.T, c Config) {
	if c.Endless == "" {
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	p := c.New(t)
	r := c.request(p)
	r.Prompt = c.Endless
	returnsEmpty(t, ctx, p, r)
}

// returnsEmpty expects a cancelled call to end soon, with no image.
func returnsEmpty(t *testing.T, ctx context.Context, p imagegen.Provider, r imagegen.ProviderRequest) {
	is := is.New(t)
	start := time.Now()
	sizes, _ := collect(t, ctx, p, r)
	is.Equal(len(sizes), 0)
	is.True(time.Since(start) < promptly)
}

// cancelledBetween: a call whose context ends after the first image yields no other.
func cancelledBetween(t *testing.T, c Config) {
	is := is.New(t)
	p := c.New(t)
	r := c.request(p)
	r.N = maxImages(p)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	images := 0
	var cancelled time.Time
	for i, err := range p.Generate(ctx, r) {
		if err != nil {
			break
		}
		_, err = decode(i)
		is.NoErr(err)
		images++
		cancelled = time.Now()
		cancel()
	}
	is.Equal(images, 1) // none after the context ended
	is.True(time.Since(cancelled) < promptly)
}

// breaks: a call whose caller wants no more images leaves nothing behind. A provider may keep a few idle connections,
// so goroutines are an error only if their number grows with that of the calls.
func breaks(t *testing.T, c Config) {
	const calls, kept = 24, 20
	is := is.New(t)
	p := c.New(t)
	before := runtime.NumGoroutine()
	for range calls {
		r := c.request(p)
		r.N = maxImages(p)
		attached := attach(is, &r, min(1, p.Capabilities().MaxReferences))
		for _, err := range p.Generate(t.Context(), r) {
			is.NoErr(err)
			break
		}
		for _, a := range attached {
			is.Equal(a.opened.Load(), a.closed.Load()) // references are closed at a break
		}
	}
	for deadline := time.After(promptly); runtime.NumGoroutine() > before+kept; {
		select {
		case <-deadline:
			t.Fatalf("%d goroutines after %d calls that were broken off; there were %d before", runtime.NumGoroutine(),
				calls, before)
		case <-time.After(time.Millisecond):
		}
	}
}

// unsavedJob: if SaveJob fails, the call ends with its error, before any image.
func unsavedJob(t *testing.T, c Config) {
	if !c.SavesJobs {
		return
	}
	is := is.New(t)
	p := c.New(t)
	r := c.request(p)
	unsaved := errors.New("the job could not be saved")
	r.SaveJob = func(context.Context, []byte) error { return unsaved }
	sizes, ended := collect(t, t.Context(), p, r)
	is.Equal(len(sizes), 0)
	is.True(errors.Is(ended, unsaved)) // the call ends with the error of SaveJob
}
