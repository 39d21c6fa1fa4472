package router_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/provider/router"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
)

func TestWeights(t *testing.T) {
	const calls = 4000
	is := is.New(t)
	a, b, reserve := member("a", works), member("b", works), member("reserve", works)
	p, err := router.New(router.Config{Members: []router.Member{{Provider: reserve}, {Provider: a, Weight: 3},
		{Provider: b, Weight: 1}}})
	is.NoErr(err)
	share := map[string]int{}
	for i := range calls {
		r := request(1)
		r.Key = fmt.Sprintf("gen_%d", i)
		first, err := call(t.Context(), p, r)
		is.NoErr(err)
		again, err := call(t.Context(), p, r)
		is.NoErr(err)
		is.Equal(first, again) // a generation stays where it began
		share[first[0]]++
	}
	is.Equal(share["reserve"], 0)
	is.True(share["a"] > calls*70/100 && share["a"] < calls*80/100)
	is.Equal(share["a"]+share["b"], calls)
}

// cutting is what a member can do that makes nothing but squares of that edge.
func cutting(edge int) imagegen.Capabilities {
	return imagegen.Capabilities{Sizes: []imagegen.Size{{Width: edge, Height: edge}}}
}

// A member that makes the wanted size comes before those whose image must be cut, unless it is a reserve.
func TestExactSizesComeFirst(t *testing.T) {
	is := is.New(t)
	large, exact, small, reserve := member("large", works), member("exact", works), member("small", works),
		member("reserve", works)
	large.can, exact.can, small.can, reserve.can = cutting(1280), cutting(1024), cutting(512), cutting(768)
	p, err := router.New(router.Config{Members: []router.Member{{Provider: large, Weight: 1000},
		{Provider: exact, Weight: 1}, {Provider: small, Weight: 1000}, {Provider: member("cut reserve", works)},
		{Provider: reserve}}})
	is.NoErr(err)
	for edge, want := range map[int]string{1024: "exact", 1280: "large", 512: "small", 900: "large", 768: "large"} {
		made := map[string]int{}
		for i := range 20 {
			r := request(1)
			r.Key, r.Size = fmt.Sprintf("gen_%d", i), imagegen.Size{Width: edge, Height: edge}
			who, err := call(t.Context(), p, r)
			is.NoErr(err)
			made[who[0]]++
		}
		is.True(made[want] >= 19) // of two that must cut, the draw decides by their weights
		is.Equal(made["reserve"], 0)
	}
}

func TestReservesComeInOrder(t *testing.T) {
	is := is.New(t)
	down := fails(imagegen.ClassUnavailable)
	a, b, c := member("a", down), member("b", down), member("c", works)
	p, err := router.New(router.Config{Members: []router.Member{{Provider: b}, {Provider: c},
		{Provider: a, Weight: 1}}})
	is.NoErr(err)
	made, err := call(t.Context(), p, request(1))
	is.NoErr(err)
	is.Equal(made, []string{"c"})
	is.Equal([]int{a.calls(), b.calls()}, []int{1, 1})
}

// busy starts a call and waits until it is under way.
func busy(t *testing.T, ctx context.Context, p imagegen.Provider, r imagegen.ProviderRequest) <-chan []string {
	done := make(chan []string, 1)
	go func() {
		made, _ := call(ctx, p, r)
		done <- made
	}()
	synctest.Wait()
	return done
}

func TestMaxConcurrent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		a, b := member("a", lasts(2*time.Second, works)), member("b", lasts(3*time.Second, works))
		p, err := router.New(router.Config{Members: []router.Member{{Provider: a, MaxConcurrent: 1},
			{Provider: b, MaxConcurrent: 1}}})
		is.NoErr(err)
		start := time.Now()
		first, second, third := busy(t, t.Context(), p, request(1)), busy(t, t.Context(), p, request(1)),
			busy(t, t.Context(), p, request(1))
		is.Equal([]int{a.calls(), b.calls()}, []int{1, 1}) // the third waits
		is.Equal([][]string{<-first, <-second, <-third}, [][]string{{"a"}, {"b"}, {"a"}})
		is.Equal(time.Since(start), 4*time.Second) // for the first place that was free
	})
}

// The engine begins as much as all members together can work at.
func TestMaxConcurrentOfAll(t *testing.T) {
	is := is.New(t)
	for name, test := range map[string]struct{ a, b, want, most int }{
		"both": {3, 4, 7, 7},
		"few":  {1, 1, 2, 2},
		"one":  {3, 0, 0, 64},
	} {
		p, err := router.New(router.Config{Members: []router.Member{{Provider: member("a", works),
			MaxConcurrent: test.a}, {Provider: member("b", works), MaxConcurrent: test.b}}})
		is.NoErr(err)
		db := memory.New(nil)
		service, err := engine.New(engine.Config{Store: db, Ledger: db, Models: []engine.Model{{ID: name, Provider: p,
			Credits: map[imagegen.Tier]imagegen.Credits{imagegen.Tier1K: 1}}}})
		is.NoErr(err)
		is.Equal([]int{p.MaxConcurrent(), service.Health()[0].Load.Most}, []int{test.want, test.most})
	}
}

func TestWaitingEndsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		a := member("a", saves(lasts(time.Minute, works), []byte("job 7")))
		resumed := interrupted(t, 1, member("a", cutShort("job 7")))
		p, err := router.New(router.Config{Members: []router.Member{{Provider: a, MaxConcurrent: 1}}})
		is.NoErr(err)
		first := busy(t, t.Context(), p, request(1))
		why := errors.New("the service is draining")
		for _, r := range []imagegen.ProviderRequest{request(1), resumed} {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Second, func() { cancel(why) })
			_, err = call(ctx, p, r)
			is.True(errors.Is(err, why))
		}
		is.Equal(a.calls(), 1)
		is.Equal(<-first, []string{"a"})
	})
}

// A call that waits for a place while another tries a member again does not keep asking.
func TestWaitsBesideATrial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		a := member("a", fails(imagegen.ClassUnknown), lasts(time.Hour, works))
		b := member("b", lasts(time.Minute, works))
		p, err := router.New(router.Config{FailureThreshold: 1, OpenFor: time.Second,
			Members: []router.Member{{Provider: a}, {Provider: b, MaxConcurrent: 1}}})
		is.NoErr(err)
		_, err = call(t.Context(), p, request(1))
		is.True(err != nil)
		first := busy(t, t.Context(), p, request(1)) // at b
		time.Sleep(2 * time.Second)
		trial := busy(t, t.Context(), p, request(1)) // at a
		second := busy(t, t.Context(), p, request(1))
		synctest.Wait() // never, if the second did not rest
		is.Equal(<-first, []string{"b"})
		is.Equal(<-second, []string{"b"})
		is.Equal(<-trial, []string{"a"})
	})
}

// While one member is full and another is being tried, it is enough that a third is ready.
func TestWaitsForRecoveryBesideATrial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		a := member("a", fails(imagegen.ClassUnavailable), lasts(time.Hour, works))
		b := member("b", makes(0, failure(imagegen.ClassRateLimited, 50*time.Second)), works)
		c := member("c", lasts(time.Hour, works))
		p, err := router.New(router.Config{FailureThreshold: 1, OpenFor: time.Second,
			Members: []router.Member{{Provider: a}, {Provider: b}, {Provider: c, MaxConcurrent: 1}}})
		is.NoErr(err)
		busy(t, t.Context(), p, request(1)) // at c, for a fails and b is rate-limited
		time.Sleep(2 * time.Second)
		busy(t, t.Context(), p, request(1)) // the trial of a
		start := time.Now()
		made, err := call(t.Context(), p, request(1))
		is.NoErr(err)
		is.Equal(made, []string{"b"})
		is.Equal(time.Since(start), 48*time.Second)
	})
}

// While one member is full and the other ill, whichever is first to be ready takes the request.
func TestWaitsForRecoveryToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		a := member("a", makes(0, failure(imagegen.ClassRateLimited, 5*time.Second)), works)
		b := member("b", lasts(time.Minute, works))
		p, err := router.New(router.Config{Members: []router.Member{{Provider: a}, {Provider: b, MaxConcurrent: 1}}})
		is.NoErr(err)
		first := busy(t, t.Context(), p, request(1))
		start := time.Now()
		made, err := call(t.Context(), p, request(1))
		is.NoErr(err)
		is.Equal(made, []string{"a"})
		is.Equal(time.Since(start), 5*time.Second)
		is.Equal(<-first, []string{"b"})
	})
}
