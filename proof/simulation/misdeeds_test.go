package simulation_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime"
	"strings"
	"testing/iotest"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// scripted is a provider that does in each call what do says.
type scripted struct{ do func(call) }

func (scripted) Name() string { return "misdeed" }

func (scripted) Capabilities() imagegen.Capabilities {
	return imagegen.Capabilities{MaxReferences: imagegen.MaxReferences}
}

func (s scripted) Generate(ctx context.Context, r imagegen.ProviderRequest) iter.Seq2[imagegen.ProviderImage, error] {
	return func(yield func(imagegen.ProviderImage, error) bool) {
		s.do(call{ctx, r, func(body io.Reader) bool { return yield(imagegen.ProviderImage{Body: body}, nil) }, yield})
	}
}

// call is one call of a provider.
type call struct {
	context.Context
	imagegen.ProviderRequest
	send  func(io.Reader) bool
	yield func(imagegen.ProviderImage, error) bool
}

// image is one that is all that was asked for.
func (c call) image() []byte { return picture(c.Size, c.Key) }

// good yields so many images.
func (c call) good(n int) {
	for range n {
		if !c.send(bytes.NewReader(c.image())) {
			return
		}
	}
}

// each yields, for every image that was asked for, what makes its bytes.
func (c call) each(body func() io.Reader) {
	for range c.N {
		if !c.send(body()) {
			return
		}
	}
}

// bytes yields the same bytes for every image that was asked for.
func (c call) bytes(b []byte) { c.each(func() io.Reader { return bytes.NewReader(b) }) }

func (c call) fail(class imagegen.Class) {
	c.yield(imagegen.ProviderImage{}, &imagegen.ProviderError{Class: class, Err: errors.New("misdeed")})
}

// enlarged is the size asked for, changed.
func (c call) enlarged(width, height int) []byte {
	return picture(imagegen.Size{Width: c.Size.Width * width / 2, Height: c.Size.Height * height / 2}, c.Key)
}

// slow waits, brings a byte, and so on. It knows of no context.
type slow struct {
	io.Reader
	pause time.Duration
}

// beginning is how much of an image says what it is, and begins its pixels.
const beginning = 60

// slowly brings the first twenty bytes so.
func slowly(b []byte, pause time.Duration) io.Reader {
	return io.MultiReader(slow{bytes.NewReader(b[:20]), pause}, bytes.NewReader(b[20:]))
}

func (s slow) Read(p []byte) (int, error) {
	time.Sleep(s.pause)
	return s.Reader.Read(p[:min(1, len(p))])
}

// broken fails behind the first bytes.
func broken(b []byte) io.Reader {
	return io.MultiReader(bytes.NewReader(b[:len(b)/2]), iotest.ErrReader(errors.New("the connection was reset")))
}

type explosive struct{}

func (explosive) Read([]byte) (int, error) { panic("misdeed") }

// silent is at no end and brings nothing.
type silent struct{}

func (silent) Read([]byte) (int, error) { return 0, nil }

// misdeed is one of a provider that was asked for three images or more, with its outcome.
type misdeed struct {
	do     func(call)
	images int           // delivered, of three
	takes  time.Duration // until the caller gets an answer
	frees  time.Duration // until the slot is free, if that is later
	lavish bool          // takes the machine's time, not the virtual one

	// undecoded is how that differs where the structure of an image is looked at and not its pixels; nil: not at all.
	undecoded *outcome
}

// outcome is how a generation ends after a misdeed.
type outcome struct {
	images int
	takes  time.Duration
}

// verified is the misdeed as it ends under a verification.
func (m misdeed) verified(v imagegen.Verification) misdeed {
	if v == imagegen.VerifyStructure && m.undecoded != nil {
		m.images, m.takes = m.undecoded.images, m.undecoded.takes
	}
	return m
}

const (
	limit = 800 * time.Second // of an attempt
	grace = 10 * time.Second  // that a provider has beyond it
	stuck = 30 * time.Minute  // stands for ever: a goroutine can't be ended
)

// misdeeds are all of them, by what they are.
var misdeeds = map[string]misdeed{
	"hangs for ever":               {do: func(call) { time.Sleep(stuck) }, takes: limit + grace, frees: stuck},
	"hangs until its context ends": {do: func(c call) { <-c.Done() }, takes: limit},
	"hangs for ever behind an image": {do: func(c call) { c.good(1); time.Sleep(stuck) }, images: 1,
		takes: limit + grace, frees: stuck},
	"yields when its context has ended": {do: func(c call) { time.Sleep(limit + grace/2); c.good(c.N) },
		takes: limit + grace/2},
	"yields when nobody waits any more": {do: func(c call) { time.Sleep(limit + 2*grace); c.good(c.N) },
		takes: limit + grace, frees: limit + 2*grace},
	"a byte a second": {do: func(c call) {
		c.each(func() io.Reader { return slowly(c.image(), time.Second) })
	}, images: 3, takes: 63 * time.Second},
	"a byte a minute": {do: func(c call) {
		c.each(func() io.Reader { return slowly(c.image(), time.Minute) })
	}, takes: limit + grace, frees: 14 * time.Minute},
	"a byte in three seconds, for ever": {do: func(c call) {
		c.send(io.MultiReader(bytes.NewReader(c.image()[:beginning]), slow{zeros{}, 3 * time.Second}))
		// then no chunk of pixels has come, which the header waits for
	}, takes: limit + time.Second, undecoded: &outcome{takes: 588 * time.Second}},
	"says nothing, without end":          {do: func(c call) { c.send(silent{}); c.good(2) }, images: 2},
	"panics":                             {do: func(call) { panic("misdeed") }},
	"panics between images":              {do: func(c call) { c.good(1); panic("misdeed") }, images: 1},
	"panics behind the last image":       {do: func(c call) { c.good(c.N); panic("misdeed") }, images: 3},
	"panics while it is read":            {do: func(c call) { c.good(1); c.send(explosive{}); c.good(2) }, images: 3},
	"ends its goroutine":                 {do: func(call) { runtime.Goexit() }},
	"ends its goroutine between images":  {do: func(c call) { c.good(1); runtime.Goexit() }, images: 1},
	"ends its goroutine behind the last": {do: func(c call) { c.good(c.N); runtime.Goexit() }, images: 3},
	"fails at once":                      {do: func(c call) { c.fail(imagegen.ClassInvalid) }},
	"fails with an image in its hand": {do: func(c call) {
		c.yield(imagegen.ProviderImage{Body: bytes.NewReader(c.image())}, errors.New("misdeed"))
	}},
	"fails late": {do: func(c call) {
		c.good(1)
		time.Sleep(time.Minute)
		c.fail(imagegen.ClassUnavailable)
	}, images: 1, takes: time.Minute},
	"fails behind the last image": {do: func(c call) { c.good(c.N); c.fail(imagegen.ClassUnavailable) },
		images: 3},
	"no image":        {do: func(call) {}},
	"too few images":  {do: func(c call) { c.good(2) }, images: 2},
	"too many images": {do: func(c call) { c.good(c.N + 2) }, images: 3},
	"goes on when asked to stop": {do: func(c call) {
		for range c.N + 2 {
			c.send(bytes.NewReader(c.image()))
		}
	}, images: 3},
	"yields from a goroutine of its own": {do: func(c call) {
		done := make(chan struct{})
		go func() { defer close(done); c.good(c.N) }()
		<-done
	}, images: 3},
	"truncated images": {do: func(c call) { b := c.image(); c.bytes(b[:len(b)-endChunk-1]) }},
	"a truncated image": {do: func(c call) { b := c.image(); c.send(bytes.NewReader(b[:40])); c.good(2) },
		images: 2},
	"an empty image": {do: func(c call) { c.send(strings.NewReader("")); c.good(2) }, images: 2},
	"a page instead of an image": {do: func(c call) {
		c.bytes([]byte("<!doctype html><title>502 Bad Gateway</title>"))
	}},
	"an animated GIF":            {do: func(c call) { c.bytes(animation(c.Size)) }},
	"no reader":                  {do: func(c call) { c.send(nil); c.good(2) }, images: 2},
	"a reader that fails midway": {do: func(c call) { c.send(broken(c.image())); c.good(2) }, images: 2},
	"the same reader again": {do: func(c call) {
		r := bytes.NewReader(c.image())
		c.each(func() io.Reader {
			return r
		})
	}, images: 1},
	"too small":        {do: func(c call) { c.bytes(c.enlarged(1, 1)) }},
	"of another shape": {do: func(c call) { c.bytes(c.enlarged(4, 2)) }},
	"too large":        {do: func(c call) { c.bytes(c.enlarged(4, 4)) }, images: 3},
	"a JPEG in CMYK":   {do: func(c call) { c.bytes(cmyk(c.Size)) }, images: 3},
	"16 bits a sample": {do: func(c call) { c.bytes(deep(c.Size)) }, images: 3},

	"declares 100,000 x 100,000": {do: func(c call) { c.bytes(declaring(c.image(), 100_000, 100_000)) }},
	"a gigabyte": {do: func(c call) { c.send(io.LimitReader(zeros{}, 1<<30)); c.good(2) }, images: 2,
		lavish: true},
	"never ends": {do: func(c call) {
		c.send(io.MultiReader(bytes.NewReader(c.image()), zeros{}))
		c.good(2)
	}, images: 2, lavish: true, undecoded: &outcome{images: 3}},
	"pixels that inflate": {do: func(c call) { c.bytes(bomb(c.Size)) }, lavish: true,
		undecoded: &outcome{images: 3}},
	"a profile that inflates": {do: func(c call) {
		c.bytes(withChunk(c.image(), "iCCP", append([]byte("x\x00\x00"), deflated()...)))
	}, images: 3, lavish: true},
	"a chunk that is not there": {do: func(c call) {
		c.bytes(append(c.image()[:headerSize], 0xff, 0xff, 0xff, 0xff, 'I', 'D', 'A', 'T'))
	}},
	"more behind the last of them": {do: func(c call) { c.bytes(append(c.image(), fmt.Sprint(time.Now())...)) },
		images: 3},
}
