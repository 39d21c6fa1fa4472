package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

type within struct{}

// diary is an observer that writes down each event, behind the steps that it lies in.
type diary struct {
	mu     sync.Mutex
	lines  []string
	events []imagegen.Event
}

func (d *diary) Begin(ctx context.Context, e imagegen.Event) context.Context {
	path, _ := ctx.Value(within{}).(string)
	return context.WithValue(ctx, within{}, path+string(e.Kind)+" ")
}

func (d *diary) Observe(ctx context.Context, e imagegen.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	path, _ := ctx.Value(within{}).(string)
	line := path + string(e.Kind)
	switch e.Kind { // the end of a step is reported within it
	case imagegen.EventCharged, imagegen.EventAttempted, imagegen.EventStored, imagegen.EventClosed:
		line = strings.TrimSuffix(path, " ")
	}
	d.lines, d.events = append(d.lines, line), append(d.events, e)
}

// of returns the events of a kind.
func (d *diary) of(kind imagegen.EventKind) (found []imagegen.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range d.events {
		if e.Kind == kind {
			found = append(found, e)
		}
	}
	return found
}

func observed(d *diary) func(*engine.Config) { return func(c *engine.Config) { c.Observer = d } }

// An observer sees what is done for a generation, one in the other and in its order, and what it cost.
func TestObserverOfAGeneration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := new(diary)
		p := yieldImages(1, nil)
		made := p.do
		p.do = func(ctx context.Context, r imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
			time.Sleep(3 * time.Second)
			r.MemberDone("first", time.Second, 0, &imagegen.ProviderError{Class: imagegen.ClassUnavailable})
			r.MemberDone("second", 2*time.Second, 1, nil)
			made(ctx, r, yield)
		}
		h := start(t, p, observed(d))
		_, err := h.generate(imagegen.GenerateRequest{N: 2, IdempotencyKey: "k"})
		h.is.NoErr(err)
		again, err := h.generate(imagegen.GenerateRequest{N: 2, IdempotencyKey: "k"})
		h.is.NoErr(err)
		h.is.True(again.Replayed)
		h.is.Equal(cmp.Diff([]string{"waited", "charged", "accepted", "attempted asked", "attempted asked",
			"attempted stored", "attempted", "closed", "settled", "replayed"}, d.lines), "")
		for _, e := range d.events {
			h.is.Equal(e.User, alice)
			h.is.Equal(e.Generation.Prompt, "")
			h.is.Equal(e.Generation.ID, again.Generation.ID)
			h.is.Equal(e.Generation.Model, "m")
			h.is.True(e.Kind == imagegen.EventReplayed || e.Provider == "scripted")
		}
		h.is.Equal(d.of(imagegen.EventAccepted)[0].Credits, imagegen.Credits(2))
		h.is.Equal(d.of(imagegen.EventSettled)[0].Credits, imagegen.Credits(1)) // one image of two came
		attempt := d.of(imagegen.EventAttempted)[0]
		h.is.Equal(attempt.Duration, 3*time.Second)
		h.is.Equal(attempt.Count, 1)
		h.is.Equal(attempt.Members, 2)
		asked := d.of(imagegen.EventAsked)
		h.is.Equal(asked[0].Member, "first")
		h.is.Equal(imagegen.EndingOf(asked[0].Count, asked[0].Err), imagegen.EndedUnavailable)
		h.is.Equal(asked[1].Member, "second")
		h.is.Equal(asked[1].Duration, 2*time.Second)
	})
}

// Queued work is reported as synchronous work is; each attempt by itself, and its wait once.
func TestObserverOfQueuedWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := new(diary)
		calls := 0
		h := start(t, &scripted{caps: anything,
			do: func(_ context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
				if calls++; calls == 1 {
					yield(imagegen.ProviderImage{}, &imagegen.ProviderError{Class: imagegen.ClassRateLimited})
					return
				}
				yield(picture(1024, 1024), nil)
			}}, observed(d))
		r, err := h.generate(imagegen.GenerateRequest{Async: true})
		h.is.NoErr(err)
		h.ended(r.Generation.ID)
		synctest.Wait()
		var ofCall, ofWork []string // the queue may hand the work out before its call goes on
		for _, line := range d.lines {
			if line == "charged" || line == "accepted" {
				ofCall = append(ofCall, line)
			} else {
				ofWork = append(ofWork, line)
			}
		}
		h.is.Equal(cmp.Diff([]string{"charged", "accepted"}, ofCall), "")
		h.is.Equal(cmp.Diff([]string{"waited", "attempted", "attempted stored", "attempted", "closed", "settled"},
			ofWork), "")
		first := d.of(imagegen.EventAttempted)[0]
		h.is.Equal(imagegen.EndingOf(first.Count, first.Err), imagegen.EndedRateLimited)
	})
}

// How an attempt ended tells the faults of an upstream from what was asked for, and from what was stopped.
func TestObserverOfEndings(t *testing.T) {
	class := func(c imagegen.Class) error { return &imagegen.ProviderError{Class: c} }
	for want, err := range map[imagegen.Ending]error{
		imagegen.EndedRefused: class(imagegen.ClassRefused), imagegen.EndedInvalid: class(imagegen.ClassInvalid),
		imagegen.EndedBlocked:     class(imagegen.ClassBlocked),
		imagegen.EndedUnavailable: class(imagegen.ClassUnavailable),
		imagegen.EndedRateLimited: class(imagegen.ClassRateLimited), imagegen.EndedUnknown: errors.New("no class"),
	} {
		synctest.Test(t, func(t *testing.T) {
			d := new(diary)
			h := start(t, yieldImages(0, fmt.Errorf("wrapped: %w", err)), observed(d))
			_, failed := h.generate(imagegen.GenerateRequest{N: 2})
			h.is.True(isCode(failed, imagegen.ErrGenerationFailed))
			attempt := d.of(imagegen.EventAttempted)[0]
			h.is.Equal(imagegen.EndingOf(attempt.Count, attempt.Err), want)
			end := d.of(imagegen.EventFailed)[0]
			h.is.Equal(end.Credits, imagegen.Credits(2))
			h.is.Equal(end.Failure.Class.Ending(), want)
		})
	}
	is := is.New(t)
	is.Equal(imagegen.EndingOf(0, nil), imagegen.EndedUnknown) // nothing came
	is.Equal(imagegen.EndingOf(1, nil), imagegen.EndedOK)
}

// A drain, and a caller who is refused a slot, do not count as failures of an upstream.
func TestObserverOfADrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := new(diary)
		h := start(t, &scripted{caps: anything,
			do: func(ctx context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
				<-ctx.Done()
				yield(imagegen.ProviderImage{}, ctx.Err())
			}}, observed(d), func(c *engine.Config) { c.Limits.Concurrency, c.Limits.SlotWait = 1, time.Second })
		_, err := h.generate(imagegen.GenerateRequest{Async: true})
		h.is.NoErr(err)
		synctest.Wait()
		_, err = h.generate(imagegen.GenerateRequest{})
		h.is.True(isCode(err, imagegen.ErrOverloaded))
		waited := d.of(imagegen.EventWaited)
		h.is.Equal(waited[len(waited)-1].Duration, time.Second)
		h.is.True(waited[len(waited)-1].Err != nil)
		now, cancel := context.WithCancel(t.Context())
		cancel()
		h.is.NoErr(h.engine.Stop(now))
		attempt := d.of(imagegen.EventAttempted)[0]
		h.is.Equal(imagegen.EndingOf(attempt.Count, attempt.Err), imagegen.EndedStopped)
	})
}

// panics is an observer that panics at every call.
type panics struct{}

func (panics) Begin(context.Context, imagegen.Event) context.Context { panic("traces are down") }
func (panics) Observe(context.Context, imagegen.Event)               { panic("metrics are down") }

// returnsNothing is an observer whose Begin returns no context.
type returnsNothing struct{ diary }

func (*returnsNothing) Begin(context.Context, imagegen.Event) context.Context { return nil }

func TestObserverThatFailsCostsNothing(t *testing.T) {
	for _, failing := range []imagegen.Observer{panics{}, &returnsNothing{}} {
		synctest.Test(t, func(t *testing.T) {
			h := start(t, yieldImages(1, nil), func(c *engine.Config) { c.Limits.Concurrency, c.Observer = 1, failing })
			for range 3 {
				_, err := h.generate(imagegen.GenerateRequest{})
				h.is.NoErr(err)
			}
		})
	}
}

// Several observers each hear everything, and an ObserverFunc the results of generations.
func TestObservers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := new(diary), new(diary)
		var kinds []imagegen.EventKind
		h := start(t, yieldImages(1, nil), func(c *engine.Config) {
			c.Observer = imagegen.Observers{first, imagegen.ObserverFunc(func(_ context.Context, e imagegen.Event) {
				kinds = append(kinds, e.Kind)
			}), second}
		})
		_, err := h.generate(imagegen.GenerateRequest{})
		h.is.NoErr(err)
		h.is.Equal(len(first.events), 7)
		h.is.Equal(len(second.events), 7)
		h.is.Equal(kinds, []imagegen.EventKind{imagegen.EventAccepted, imagegen.EventSettled})
	})
}

func TestObserverOfAnAudit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := new(diary)
		h := start(t, yieldImages(1, nil), observed(d))
		_, err := h.engine.Audit(t.Context())
		h.is.NoErr(err)
		audits := d.of(imagegen.EventAudited)
		h.is.Equal(len(audits), 1)
		h.is.Equal(audits[0].Count, 0)
		h.is.NoErr(audits[0].Err)
	})
}
