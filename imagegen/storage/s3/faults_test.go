package s3_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/s3"
	"github.com/imagegend/imagegend/imagegen/storage/s3/s3test"
)

// step is one call of a store.
type step struct {
	name string
	do   func(context.Context) error
	done func(context.Context) bool // whether another node sees what do was to do; nil: do compares what it has read
	many bool                       // it does several things, of which a refusal may leave some done
}

// life is what happens to some objects from the first to the last: each step needs those before it.
func life(t *testing.T, node, beside, other *s3.Store) []step {
	thumbnail := imagegen.ImageKey{Generation: key.Generation, Attempt: 1, Image: key.Image.Thumbnail()}
	left := imagegen.ImageKey{Generation: key.Generation, Attempt: 2, Image: key.Image}
	put := func(k imagegen.ImageKey) func(context.Context) error {
		return func(ctx context.Context) error { return node.PutImage(ctx, k, strings.NewReader("an image")) }
	}
	has := func(k imagegen.ImageKey) func(context.Context) bool {
		return func(ctx context.Context) bool {
			return found(t, "an image", func() (io.ReadCloser, error) { return other.OpenImage(ctx, k) })
		}
	}
	hasNot := func(has func(context.Context) bool) func(context.Context) bool {
		return func(ctx context.Context) bool { return !has(ctx) }
	}
	kept := func(id imagegen.ReferenceID) func(context.Context) bool {
		return func(ctx context.Context) bool {
			return found(t, string(id), func() (io.ReadCloser, error) { return other.Open(ctx, id) })
		}
	}
	both := func(ctx context.Context) bool { return kept("ref_1")(ctx) && kept("ref_2")(ctx) }
	neither := func(ctx context.Context) bool { return !kept("ref_1")(ctx) && !kept("ref_2")(ctx) }
	return []step{
		{"put", put(key), has(key), false},
		{"put the thumbnail", put(thumbnail), has(thumbnail), false},
		{"read", func(ctx context.Context) error {
			return reads("an image", func() (io.ReadCloser, error) { return node.OpenImage(ctx, key) })
		}, nil, false},
		{"keep", func(ctx context.Context) error { return node.Keep(ctx, "ref_1", "ref_2") }, both, true},
		{"read what another node has kept", func(ctx context.Context) error {
			return reads("ref_2", func() (io.ReadCloser, error) { return beside.Open(ctx, "ref_2") })
		}, nil, false},
		{"remove references", func(ctx context.Context) error { return node.Remove(ctx, "ref_1", "ref_2") }, neither,
			true},
		{"remove the thumbnail", func(ctx context.Context) error {
			return node.RemoveImages(ctx, key.Generation, 1, key.Image)
		},
			hasNot(has(thumbnail)), false},
		{"remove the image", func(ctx context.Context) error { return node.RemoveImages(ctx, key.Generation, 1) },
			hasNot(has(key)), false},
		{"put what nobody will name", put(left), has(left), false},
		{"sweep", func(ctx context.Context) error {
			_, err := node.RemoveOrphans(ctx, -time.Hour, known{})
			return err
		},
			hasNot(has(left)), true},
	}
}

// found reports whether there is such a file. What is there has to be whole.
func found(t *testing.T, want string, open func() (io.ReadCloser, error)) bool {
	t.Helper()
	err := reads(want, open)
	if err != nil && !errors.Is(err, imagegen.ErrNotFound) {
		t.Error(err)
	}
	return err == nil
}

// reads reads a file, and compares it.
func reads(want string, open func() (io.ReadCloser, error)) error {
	r, err := open()
	if err != nil {
		return err
	}
	defer r.Close()
	b, err := io.ReadAll(r)
	if err == nil && string(b) != want {
		err = fmt.Errorf("read %q instead of %q", b, want)
	}
	return err
}

// disturbance is a fault of the n-th call, or of it and all later ones.
type disturbance struct {
	fault s3test.Fault
	lasts bool
}

// Under every fault of every call: a step that succeeds has done what it says, one that is refused has changed nothing,
// and repeated in better times it succeeds.
func TestEveryFault(t *testing.T) {
	server := s3test.Start(t)
	var all sync.WaitGroup
	defer all.Wait()
	places := make(chan struct{}, 32) // most of the time each waits before it calls again
	for name, d := range map[string]disturbance{
		"refused": {s3test.Refused, true}, "failed": {s3test.Failed, true}, "failed once": {s3test.Failed, false},
		"request cut": {s3test.CutRequest, true}, "answer cut": {s3test.CutAnswer, true},
		"unanswered": {s3test.Unanswered, true}, "unanswered once": {s3test.Unanswered, false},
	} {
		for n := 1; n <= callsOfALife; n++ {
			proxy, prefix := s3test.Between(t, server), strings.ReplaceAll(name, " ", "-")+fmt.Sprint(n)
			stores := func(endpoint string) *s3.Store {
				c := config(t, server, prefix)
				c.Endpoint = endpoint
				return open(t, c)
			}
			node, beside, other := stores(proxy.URL), stores(proxy.URL), stores(server.URL)
			all.Go(func() {
				places <- struct{}{}
				defer func() { <-places }()
				disturbed(t, fmt.Sprintf("%s, call %d", name, n), proxy, d, n, node, life(t, node, beside, other))
			})
		}
	}
}

// callsOfALife is how many calls the steps of a life make when nothing goes wrong.
const callsOfALife = 16

func disturbed(t *testing.T, name string, proxy *s3test.Proxy, d disturbance, at int, node *s3.Store, steps []step) {
	ctx := t.Context()
	for _, id := range []imagegen.ReferenceID{"ref_1", "ref_2"} {
		if err := node.Stage(ctx, id, strings.NewReader(string(id))); err != nil {
			t.Error(err)
		}
	}
	fault := func(n int, _ *http.Request) s3test.Fault {
		if n == at || d.lasts && n > at {
			return d.fault
		}
		return s3test.Passed
	}
	proxy.Disturb(fault)
	for _, s := range steps {
		err := s.do(ctx)
		done := s.done == nil || s.done(ctx)
		switch {
		case err == nil && !done:
			t.Errorf("%s: %s succeeds, and is not done", name, s.name)
		case imagegen.Definite(err) && s.done != nil && done && !s.many:
			t.Errorf("%s: %s is done, and said to have changed nothing: %v", name, s.name, err)
		}
		if err == nil {
			continue
		}
		proxy.Disturb(nil)
		if err := s.do(ctx); err != nil || s.done != nil && !s.done(ctx) {
			t.Errorf("%s: %s does not succeed when it is repeated: %v", name, s.name, err)
		}
	}
	if calls := proxy.Calls(); d.fault == s3test.Passed && calls != callsOfALife {
		t.Errorf("a life makes %d calls", calls)
	}
}

// The number of calls is right, so that no call is left out of TestEveryFault.
func TestCallsOfALife(t *testing.T) {
	server := s3test.Start(t)
	proxy := s3test.Between(t, server)
	c := config(t, server, "calls")
	c.Endpoint = proxy.URL
	beside := c
	beside.Dir = t.TempDir()
	node := open(t, c)
	disturbed(t, "nothing", proxy, disturbance{}, 0, node, life(t, node, open(t, beside),
		open(t, config(t, server, "calls"))))
}

// A reference image whose put was carried out, though the answer was lost, is removed with its call.
func TestReferenceThatMayBeKept(t *testing.T) {
	is, server, ctx := is.New(t), s3test.Start(t), t.Context()
	proxy := s3test.Between(t, server)
	c := config(t, server, "doubt")
	c.Endpoint = proxy.URL
	s := open(t, c)
	is.NoErr(s.Stage(ctx, "ref_1", strings.NewReader("a reference")))
	proxy.Disturb(func(int, *http.Request) s3test.Fault { return s3test.Unanswered })
	err := s.Keep(ctx, "ref_1")
	is.True(err != nil)
	is.True(!imagegen.Definite(err)) // it is there
	proxy.Disturb(nil)
	is.NoErr(s.Remove(ctx, "ref_1"))
	is.Equal(len(server.Keys(t)), 0)
}

// A file whose parts were put together, though the answer was cut off, is not said to be unchanged.
func TestFileThatMayBeComplete(t *testing.T) {
	for name, fault := range map[string]s3test.Fault{"cut": s3test.CutAnswer, "unanswered": s3test.Unanswered} {
		t.Run(name, func(t *testing.T) {
			is, server := is.New(t), s3test.Start(t)
			proxy := s3test.Between(t, server)
			files := openFiles(t, server, proxy.URL)
			f, _ := file(t, 2*partSize)
			proxy.Disturb(func(_ int, r *http.Request) s3test.Fault {
				if completes(r) {
					return fault
				}
				return s3test.Passed
			})
			err := files.Put(t.Context(), "new", f)
			is.True(err != nil)
			is.Equal(len(server.Keys(t)), 1)
			is.True(!imagegen.Definite(err))
		})
	}
}

// An object store that falls silent is given up: by every call, and in the midst of an image.
func TestSilentObjectStore(t *testing.T) {
	server := s3test.Start(t)
	proxy := s3test.Between(t, server)
	c := config(t, server, "silent")
	c.Endpoint, c.RequestTimeout = proxy.URL, time.Second
	s := open(t, c)
	is := is.New(t)
	is.NoErr(s.Stage(t.Context(), "ref_1", bytes.NewReader(nil)))
	proxy.Disturb(func(int, *http.Request) s3test.Fault { return s3test.Silent })
	var all sync.WaitGroup
	defer all.Wait()
	for name, do := range map[string]func(context.Context) error{
		"put":    func(ctx context.Context) error { return s.PutImage(ctx, key, strings.NewReader("an image")) },
		"open":   func(ctx context.Context) error { _, err := s.OpenImage(ctx, key); return err },
		"remove": func(ctx context.Context) error { return s.RemoveImages(ctx, key.Generation, 1) },
		"keep":   func(ctx context.Context) error { return s.Keep(ctx, "ref_1") },
		"forget": func(ctx context.Context) error { return s.Remove(ctx, "ref_2") },
		"sweep":  func(ctx context.Context) error { _, err := s.RemoveOrphans(ctx, 0, known{}); return err },
	} {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if err := do(ctx); err == nil || ctx.Err() != nil || errors.Is(err, imagegen.ErrNotFound) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// Only the object store's clock says how old an object is: that of this machine may be days off it.
func TestOrphansByTheObjectStoresClock(t *testing.T) {
	const days = 72 * time.Hour // longer than OrphanAge
	for name, test := range map[string]struct {
		clock, objects time.Duration
		dated          bool
		removed        int
	}{
		"young, by a clock that is behind": {-days, -days, true, 0},
		"young, by a clock that is ahead":  {days, days, true, 0},
		"old":                              {0, -days, true, 2},
		"old, by a clock that is ahead":    {days, 0, true, 2},
		"no clock":                         {0, -days, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			is, server := is.New(t), s3test.Start(t)
			proxy := s3test.Between(t, server)
			c := config(t, server, "clock")
			c.Endpoint = proxy.URL
			s := open(t, c)
			is.NoErr(s.PutImage(t.Context(), key, strings.NewReader("an image")))
			is.NoErr(s.Stage(t.Context(), "ref_1", strings.NewReader("a reference")))
			is.NoErr(s.Keep(t.Context(), "ref_1"))
			proxy.Misdate(test.clock, test.objects, test.dated)
			removed, err := s.RemoveOrphans(t.Context(), s3.OrphanAge, known{})
			is.NoErr(err)
			is.Equal(removed, test.removed)
		})
	}
}
