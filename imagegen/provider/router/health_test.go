package router_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/router"
)

// makers calls a router so many times and returns who made the images.
func makers(t *testing.T, p imagegen.Provider, calls int) string {
	var all strings.Builder
	for range calls {
		made, err := call(t.Context(), p, request(1))
		all.WriteString(strings.Join(made, ""))
		if err != nil {
			all.WriteString("-")
		}
	}
	return all.String()
}

func TestBreaker(t *testing.T) {
	unavailable := fails(imagegen.ClassUnavailable)
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		a := member("a", unavailable, unavailable, unavailable, unavailable, works)
		p := build(t, router.Config{FailureThreshold: 3, OpenFor: time.Minute}, a, member("b", works))
		is.Equal(makers(t, p, 10), "bbbbbbbbbb")
		is.Equal(a.calls(), 3) // then it was left alone
		time.Sleep(time.Minute)
		is.Equal(makers(t, p, 5), "bbbbb")
		is.Equal(a.calls(), 4) // one trial, which failed
		time.Sleep(time.Minute)
		is.Equal(makers(t, p, 3), "aaa")
	})
}

// Health says of a member what requests meet.
func TestHealth(t *testing.T) {
	unavailable := fails(imagegen.ClassUnavailable)
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		limited := func() turn { return makes(0, failure(imagegen.ClassRateLimited, 20*time.Second)) }
		p := build(t, router.Config{FailureThreshold: 1, OpenFor: time.Minute}, member("a", unavailable, works),
			member("b", limited(), works), member("c", works))
		health := func(want ...imagegen.MemberHealth) {
			t.Helper()
			is.Equal(cmp.Diff(want, p.Health()), "")
		}
		a, b, c := imagegen.MemberHealth{Name: "a", Healthy: true}, imagegen.MemberHealth{Name: "b", Healthy: true},
			imagegen.MemberHealth{Name: "c", Healthy: true}
		health(a, b, c)
		is.Equal(makers(t, p, 1), "c")
		health(imagegen.MemberHealth{Name: "a",
			Detail: "it is left alone for a while after unavailable: as scripted; again in 1m0s"},
			imagegen.MemberHealth{Name: "b",
				Detail: "it was rate-limited or overloaded and has not recovered; again in 20s"}, c)
		time.Sleep(time.Minute)
		health(imagegen.MemberHealth{Name: "a",
			Detail: "one request is to find out whether it works after unavailable: as scripted"}, b, c)
		is.Equal(makers(t, p, 1), "a")
		health(a, b, c)
	})
}

// A fault that only an operator can mend opens the breaker with the first request, and is named by its cause in the
// log and in Health until a request proves that somebody saw to it.
func TestWaitsForAnOperator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		var log strings.Builder
		a := member("a", fails(imagegen.ClassBlocked), fails(imagegen.ClassBlocked), works)
		p := build(t, router.Config{OpenFor: time.Minute, Log: slog.New(slog.NewTextHandler(&log, nil))}, a,
			member("b", works))
		is.Equal(makers(t, p, 3), "bbb")
		is.Equal(a.calls(), 1)
		is.Equal(p.Health()[0], imagegen.MemberHealth{Name: "a",
			Detail: "it is left alone for a while after blocked: as scripted; again in 1m0s"})
		is.Equal(strings.Count(log.String(),
			`level=ERROR msg="an upstream cannot be used until an operator acts" router=router member=a error="provider: blocked: as scripted"`), 1)
		time.Sleep(time.Minute)
		is.Equal(makers(t, p, 2), "bb") // a trial, which nobody noticed
		is.Equal(a.calls(), 2)
		time.Sleep(time.Minute)
		is.Equal(makers(t, p, 2), "aa")
		is.True(p.Health()[0].Healthy)
	})
}

func TestWhatOpensTheBreaker(t *testing.T) {
	for name, test := range map[string]struct {
		turn  turn
		opens bool
	}{
		"unavailable":           {fails(imagegen.ClassUnavailable), true},
		"unknown":               {fails(imagegen.ClassUnknown), true},
		"images, then unknown":  {makes(1, failure(imagegen.ClassUnknown, 0)), true},
		"beyond its deadline":   {lasts(time.Hour, works), true},
		"invalid":               {fails(imagegen.ClassInvalid), false},
		"refused":               {fails(imagegen.ClassRefused), false},
		"rate-limited":          {fails(imagegen.ClassRateLimited), false},
		"no image and no error": {makes(0, nil), false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is := is.New(t)
				a := member("a", test.turn)
				p := build(t, router.Config{FailureThreshold: 2, OpenFor: time.Hour}, a)
				for range 4 {
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					_, _ = call(ctx, p, request(2))
					cancel()
				}
				is.Equal(a.calls() == 2, test.opens)
				is.True(a.calls() == 2 || a.calls() == 4)
			})
		})
	}
}

func TestPanicCountsAndPassesThrough(t *testing.T) {
	is := is.New(t)
	a := member("a", func(context.Context, imagegen.ProviderRequest, func() bool) error { panic("boom") })
	p, err := router.New(router.Config{Members: []router.Member{{Provider: a, MaxConcurrent: 1}}, FailureThreshold: 2,
		OpenFor: time.Hour})
	is.NoErr(err)
	for range 2 {
		func() {
			defer func() { is.Equal(recover(), "boom") }()
			_, _ = call(t.Context(), p, request(1))
		}()
	}
	_, err = call(t.Context(), p, request(1))
	is.Equal(classOf(err), int(imagegen.ClassUnavailable)) // its place is free again, but it is ill
	is.Equal(a.calls(), 2)
}

func TestAllAreIll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		a := member("a", fails(imagegen.ClassUnavailable))
		p := build(t, router.Config{FailureThreshold: 1, OpenFor: 20 * time.Second}, a)
		makers(t, p, 1)
		time.Sleep(5 * time.Second)
		_, err := call(t.Context(), p, request(1))
		e, ok := errors.AsType[*imagegen.ProviderError](err)
		is.True(ok)
		is.Equal(e.Class, imagegen.ClassUnavailable)
		is.Equal(e.RetryAfter, 15*time.Second) // worth asking again then
		is.Equal(a.calls(), 1)
	})
}

func TestRestsWhileRateLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		a := member("a", makes(0, failure(imagegen.ClassRateLimited, 10*time.Second)),
			makes(0, failure(imagegen.ClassRateLimited, 24*time.Hour)), works)
		p := build(t, router.Config{}, a, member("b", works))
		is.Equal(makers(t, p, 3), "bbb")
		is.Equal(a.calls(), 1)
		time.Sleep(10 * time.Second)
		is.Equal(makers(t, p, 3), "bbb")
		is.Equal(a.calls(), 2)
		time.Sleep(time.Minute) // no longer than that, whatever it says
		is.Equal(makers(t, p, 3), "aaa")
	})
}

// So does one that answers 503 and says when to come again.
func TestRestsWhileOverloaded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		a := member("a", makes(0, &imagegen.ProviderError{Class: imagegen.ClassUnavailable, Overloaded: true,
			RetryAfter: 10 * time.Second}), works)
		p := build(t, router.Config{}, a, member("b", works))
		is.Equal(makers(t, p, 3), "bbb")
		is.Equal(a.calls(), 1)
		time.Sleep(10 * time.Second)
		is.Equal(makers(t, p, 1), "a")
	})
}

func TestOneTrialAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		a := member("a", fails(imagegen.ClassUnavailable), lasts(time.Second, works))
		p, err := router.New(router.Config{FailureThreshold: 1, OpenFor: time.Minute,
			Members: []router.Member{{Provider: a, MaxConcurrent: 2}, {Provider: member("b", works)}}})
		is.NoErr(err)
		is.Equal(makers(t, p, 1), "b")
		time.Sleep(time.Minute)
		trial := busy(t, t.Context(), p, request(1))
		is.Equal(makers(t, p, 2), "bb")
		is.Equal(<-trial, []string{"a"})
		first, second := busy(t, t.Context(), p, request(1)), busy(t, t.Context(), p, request(1))
		is.Equal([][]string{<-first, <-second}, [][]string{{"a"}, {"a"}}) // both its places are free
	})
}

// A trial that its caller breaks off proves nothing, and is not the last one.
func TestCancelledTrial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		a := member("a", fails(imagegen.ClassUnavailable), lasts(time.Hour, works), works)
		p := build(t, router.Config{FailureThreshold: 1, OpenFor: time.Minute}, a, member("b", works))
		makers(t, p, 1)
		time.Sleep(time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, err := call(ctx, p, request(1))
		is.True(errors.Is(err, context.Canceled))
		is.Equal(makers(t, p, 1), "b")
		time.Sleep(time.Minute)
		is.Equal(makers(t, p, 2), "aa")
	})
}

func TestCancelledCallsAreNoFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		hang := lasts(time.Hour, works)
		a := member("a", hang, hang, works)
		p := build(t, router.Config{FailureThreshold: 1}, a, member("b", works))
		for range 2 {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			_, _ = call(ctx, p, request(1))
		}
		is.Equal(makers(t, p, 1), "a")
	})
}

func TestJobGoesBackToAnIllMember(t *testing.T) {
	is := is.New(t)
	r := interrupted(t, 1, member("a", cutShort("job 7")))
	a := member("a", fails(imagegen.ClassUnavailable), works)
	p := build(t, router.Config{FailureThreshold: 1, OpenFor: time.Hour}, a, member("b", works))
	is.Equal(makers(t, p, 2), "bb")
	made, err := call(t.Context(), p, r)
	is.NoErr(err)
	is.Equal(made, []string{"a"})
	is.Equal(makers(t, p, 1), "b") // old work says nothing about new work
}

func TestOldJobsFailureIsNoSignOfIllness(t *testing.T) {
	is := is.New(t)
	r := interrupted(t, 1, member("a", cutShort("job 7")))
	p := build(t, router.Config{FailureThreshold: 1}, member("a", fails(imagegen.ClassUnknown), works),
		member("b", works))
	_, err := call(t.Context(), p, r)
	is.Equal(classOf(err), int(imagegen.ClassUnknown))
	is.Equal(makers(t, p, 1), "a")
}

func TestLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		var log strings.Builder
		a := member("north", fails(imagegen.ClassUnavailable), works)
		p := build(t, router.Config{FailureThreshold: 1, OpenFor: time.Minute,
			Log: slog.New(slog.NewTextHandler(&log, nil))}, a, member("b", works))
		makers(t, p, 1)
		is.True(strings.Contains(log.String(), "passed a request on"))
		is.True(strings.Contains(log.String(), "left alone for a while"))
		is.True(strings.Contains(log.String(), "member=north"))
		is.True(!strings.Contains(log.String(), request(1).Prompt))
		time.Sleep(time.Minute)
		makers(t, p, 1)
		is.True(strings.Contains(log.String(), "works again"))
	})
}
