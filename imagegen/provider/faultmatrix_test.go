package provider_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
	"github.com/imagegend/imagegend/imagegen/storage"
)

// dispatcher sends each request to the adapter that its prompt names, and keeps how it ended.
type dispatcher struct {
	mu    sync.Mutex
	cells map[string]*cell
}

// cell is an upstreamFault that one adapter meets in the middle of its work.
type cell struct {
	upstream, name string
	upstreamFault
	from int // requests that are answered well

	provider       imagegen.Provider
	upstreamServer *faultyUpstream
	ended          error // how the adapter's call ended
}

func (c *cell) String() string {
	return fmt.Sprintf("%s whose upstream %s from request %d on", c.upstream, c.name, c.from+1)
}

func (d *dispatcher) Name() string                        { return "faulty" }
func (d *dispatcher) Capabilities() imagegen.Capabilities { return imagegen.Capabilities{} }

func (d *dispatcher) Generate(ctx context.Context, r imagegen.ProviderRequest) iter.Seq2[imagegen.ProviderImage,
	error] {
	d.mu.Lock()
	c := d.cells[r.Prompt]
	d.mu.Unlock()
	return func(yield func(imagegen.ProviderImage, error) bool) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		switch c.kind {
		case endless:
			go c.giveUp(ctx, cancel, c.upstreamServer.struck, patience)
		case flood:
			go c.giveUp(ctx, cancel, c.upstreamServer.enough, 0)
		}
		for i, err := range c.provider.Generate(ctx, r) {
			if c.ended = err; !yield(i, err) {
				break
			}
		}
	}
}

// patience is how long a call goes on once the fault has begun.
const patience = 50 * time.Millisecond

var errCancelled = errors.New("the call was cancelled")

func (c *cell) giveUp(ctx context.Context, cancel context.CancelCauseFunc, begun <-chan struct{},
	patience time.Duration) {
	select {
	case <-begun:
		time.AfterFunc(patience, func() { cancel(errCancelled) })
	case <-ctx.Done():
	}
}

// many cells are visited at once: most of them wait.
const many = 256

// faultMatrix is an engine whose adapters' upstreams misbehave.
type faultMatrix struct {
	*testing.T
	dispatcher *dispatcher
	imagegentest.Running
	alice    imagegen.Service
	stranger *httptest.Server
	visits   atomic.Int64
	steps    map[string]int // requests that each adapter makes
	whole    atomic.Int64   // generations that succeeded
}

func openFaultMatrix(t *testing.T) *faultMatrix {
	t.Helper()
	is := is.New(t)
	spool, err := storage.Open(t.TempDir(), nil) // in files, as it is outside of tests
	is.NoErr(err)
	t.Cleanup(func() { is.NoErr(spool.Close()) })
	a := &faultMatrix{T: t, dispatcher: &dispatcher{cells: map[string]*cell{}}, steps: map[string]int{}}
	a.stranger = httptest.NewServer(http.HandlerFunc(a.visited))
	t.Cleanup(a.stranger.Close)
	a.Running = imagegentest.Start(t, func(c *engine.Config) {
		c.Models[0].Provider, c.Limits.Concurrency, c.Limits.SlotWait, c.Spool = a.dispatcher, many, time.Minute, spool
	})
	a.Grant(t, imagegentest.Alice, 900) // to 1000
	a.alice = a.As(imagegentest.Alice)
	for name := range upstreams {
		if name == "router" || name == "replicate by name" {
			continue // they speak as others do
		}
		c := &cell{upstream: name, name: "does no harm", from: 1 << 20}
		if err := a.try(c); err != nil || a.whole.Load() != int64(len(a.steps)+1) {
			t.Fatal(c, err)
		}
		a.steps[name] = len(c.upstreamServer.requests())
	}
	return a
}

// visited is what a stranger sees, which is nothing that was not meant for it.
func (a *faultMatrix) visited(w http.ResponseWriter, r *http.Request) {
	a.visits.Add(1)
	if r.Method != http.MethodGet || r.Header.Get("Authorization")+r.Header.Get("X-Key")+r.Header.Get("Referer") != "" {
		a.Errorf("a stranger was sent %s with %v", r.Method, r.Header)
	}
	w.WriteHeader(http.StatusNotFound)
}

// cells are all upstreamFaults at all steps of all adapters.
func (a *faultMatrix) cells(upstreamFaults map[string]upstreamFault) (all []*cell) {
	for upstream, steps := range a.steps {
		for from := range steps {
			for name, e := range upstreamFaults {
				all = append(all, &cell{upstream: upstream, name: name, upstreamFault: e, from: from})
			}
		}
	}
	return all
}

// balanced checks that what succeeded was paid for and nothing else.
func (a *faultMatrix) balanced() {
	a.Helper()
	b, err := a.alice.Balance(a.Context())
	if want := 1000 - imagegen.Credits(a.whole.Load()); err != nil || b.Credits != want {
		a.Errorf("the balance is %d, it should be %d; %v", b.Credits, want, err)
	}
}

// Under every fault of an upstream on the wire, at every step of its protocol, the call ends, its
// error is one that is never tried again, nothing was submitted twice, sent to another host, or
// charged, and no connection or goroutine stays behind.
func TestUpstreamFaultsAtEachStep(t *testing.T) {
	before := runtime.NumGoroutine()
	a := openFaultMatrix(t)
	cells := a.cells(upstreamFaults)
	for _, problem := range visit(many, cells, a.try) {
		t.Error(problem)
	}
	a.balanced()
	a.stranger.Close()
	t.Logf("proof faults: adapters=%d upstreamFaults=%d cells=%d came_whole=%d strangers=%d", len(a.steps),
		len(upstreamFaults), len(cells), a.whole.Load(), a.visits.Load())
	const engine = 20 // its own goroutines, and the storage's
	for deadline := time.After(20 * time.Second); runtime.NumGoroutine() > before+engine; {
		select {
		case <-deadline:
			t.Fatalf("%d goroutines, there were %d before", runtime.NumGoroutine(), before)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// visit tries all cells, as many at once as there are workers, and returns what is wrong.
func visit(workers int, cells []*cell, try func(*cell) error) (problems []string) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	next := make(chan *cell)
	for range workers {
		wg.Go(func() {
			for c := range next {
				if err := try(c); err != nil {
					mu.Lock()
					problems = append(problems, fmt.Sprintf("%v: %v", c, err))
					mu.Unlock()
				}
			}
		})
	}
	for _, c := range cells {
		next <- c
	}
	close(next)
	wg.Wait()
	return slices.Sorted(slices.Values(problems))
}

// try makes one generation and says what is wrong with it.
func (a *faultMatrix) try(c *cell) (err error) {
	if c.upstreamServer, err = startFaultyUpstream((&drawingUpstream{}).routes(), c.from, c.do,
		a.stranger.URL); err != nil {
		return err
	}
	if c.provider, err = upstreams[c.upstream].open(c.upstreamServer.url()); err != nil {
		return err
	}
	prompt := c.String()
	a.dispatcher.mu.Lock()
	a.dispatcher.cells[prompt] = c
	a.dispatcher.mu.Unlock()
	var g imagegen.Result
	hung := c.upstreamServer.within(func() {
		g, err = a.alice.Generate(a.Context(), imagegen.GenerateRequest{Model: imagegentest.Model, Prompt: prompt,
			Size: imagegen.Size{Width: 1024, Height: 1024}})
	})
	if held := c.upstreamServer.end(); hung != nil || held != nil {
		return errors.Join(hung, held)
	}
	if err == nil && len(g.Images) == 1 && (c.kind == mild || c.do == nil) {
		a.whole.Add(1)
		return nil
	}
	return c.judge(g, err)
}

func (c *cell) judge(g imagegen.Result, err error) error {
	if !errors.Is(err, imagegen.ErrGenerationFailed) || len(g.Images) > 0 {
		return fmt.Errorf("it ended with %v and %d images", err, len(g.Images))
	}
	submissions := 0
	for _, asked := range c.upstreamServer.requests() {
		if strings.HasPrefix(asked, "POST ") && !slices.Contains(cancelling, asked) {
			submissions++
		}
	}
	if submissions != 1 {
		return fmt.Errorf("the work was submitted %d times: %v", submissions, c.upstreamServer.requests())
	}
	if p, ok := errors.AsType[*imagegen.ProviderError](c.ended); ok && p.Class != imagegen.ClassUnknown {
		return fmt.Errorf("class %v: %w", p.Class, c.ended)
	} else if p == nil && c.ended != nil && !errors.Is(c.ended, errCancelled) {
		return fmt.Errorf("an error of no class: %w", c.ended)
	}
	return nil
}

// cancelling are the requests by which an adapter cancels what it has submitted.
var cancelling = []string{"POST /queue", "POST /interrupt", "POST /internal/progress", "POST /sdapi/v1/interrupt"}
