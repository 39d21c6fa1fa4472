package router_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/router"
)

func TestFallsOverWhereItIsSafe(t *testing.T) {
	for name, test := range map[string]struct {
		first turn
		made  string
		class int // -1: no error
	}{
		"it works":                             {works, "aaa", -1},
		"fewer images are an ordinary outcome": {makes(2, nil), "aa", -1},
		"more are dropped":                     {makes(9, nil), "aaa", -1},
		"unavailable":                          {fails(imagegen.ClassUnavailable), "bbb", -1},
		"it waits for an operator":             {fails(imagegen.ClassBlocked), "bbb", -1},
		"one image, then out of credit":        {makes(1, failure(imagegen.ClassBlocked, 0)), "abb", -1},
		"a job is under way, then a bad key": {saves(fails(imagegen.ClassBlocked), []byte("1")), "",
			int(imagegen.ClassBlocked)},
		"rate-limited":                 {fails(imagegen.ClassRateLimited), "bbb", -1},
		"unknown":                      {fails(imagegen.ClassUnknown), "", int(imagegen.ClassUnknown)},
		"an error without a class":     {makes(0, errors.New("what?")), "", int(imagegen.ClassUnknown)},
		"invalid":                      {fails(imagegen.ClassInvalid), "", int(imagegen.ClassInvalid)},
		"refused":                      {fails(imagegen.ClassRefused), "", int(imagegen.ClassRefused)},
		"two images, then unavailable": {makes(2, failure(imagegen.ClassUnavailable, 0)), "aab", -1},
		"one image, then rate-limited": {makes(1, failure(imagegen.ClassRateLimited, 0)), "abb", -1},
		"two images, then unknown": {makes(2, failure(imagegen.ClassUnknown, 0)), "aa",
			int(imagegen.ClassUnknown)},
		"a job is under way, then unavailable": {saves(fails(imagegen.ClassUnavailable), []byte("1")), "",
			int(imagegen.ClassUnavailable)},
		"a job was forgotten, then unavailable": {saves(fails(imagegen.ClassUnavailable), []byte("1"), nil), "bbb", -1},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			p := build(t, router.Config{Retries: 3}, member("a", test.first), member("b", works))
			made, err := call(t.Context(), p, request(3))
			is.Equal(strings.Join(made, ""), test.made)
			is.Equal(classOf(err), test.class)
		})
	}
}

func TestRestIsAnotherRequest(t *testing.T) {
	is := is.New(t)
	a, b := member("a", makes(1, failure(imagegen.ClassUnavailable, 0))), member("b", works)
	_, err := call(t.Context(), build(t, router.Config{}, a, b), request(3))
	is.NoErr(err)
	is.Equal(a.asked[0].Key, "gen_1")
	is.Equal(b.asked[0].N, 2)
	is.True(b.asked[0].Key != "gen_1") // an upstream that knows the key would answer with the first images
}

func TestMembersErrorIsNamed(t *testing.T) {
	is := is.New(t)
	_, err := call(t.Context(), build(t, router.Config{}, member("north", fails(imagegen.ClassUnknown))), request(1))
	is.True(strings.Contains(err.Error(), `member "north"`))
}

func TestAllPassItOn(t *testing.T) {
	limited := func(d time.Duration) turn { return makes(0, failure(imagegen.ClassRateLimited, d)) }
	for name, test := range map[string]struct {
		a, b  turn
		class imagegen.Class
		after time.Duration
	}{
		"all are unavailable": {fails(imagegen.ClassUnavailable), fails(imagegen.ClassUnavailable),
			imagegen.ClassUnavailable, 0},
		"one is rate-limited": {limited(20 * time.Second), fails(imagegen.ClassUnavailable), imagegen.ClassUnavailable,
			0},
		"all are blocked": {fails(imagegen.ClassBlocked), fails(imagegen.ClassBlocked), imagegen.ClassBlocked,
			0},
		"one is blocked": {fails(imagegen.ClassBlocked), limited(7 * time.Second), imagegen.ClassUnavailable,
			7 * time.Second},
		"all are rate-limited": {limited(20 * time.Second), limited(7 * time.Second), imagegen.ClassRateLimited,
			7 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			made, err := call(t.Context(), build(t, router.Config{}, member("a", test.a), member("b", test.b)),
				request(2))
			is.Equal(len(made), 0)
			p, ok := errors.AsType[*imagegen.ProviderError](err)
			is.True(ok)
			is.Equal(p.Class, test.class)
			is.Equal(p.RetryAfter, test.after)
			// the log hears of both
			is.True(strings.Contains(err.Error(), `"a"`) && strings.Contains(err.Error(), `"b"`))
		})
	}
}

// The engine learns of the overload of a lone member, or of all members, as of an upstream without a router.
func TestAllAreOverloaded(t *testing.T) {
	overloaded := makes(0, &imagegen.ProviderError{Class: imagegen.ClassUnavailable, Overloaded: true,
		RetryAfter: 9 * time.Second})
	for name, test := range map[string]struct {
		b    turn
		want bool
	}{
		"both":                         {overloaded, true},
		"the other is rate-limited":    {fails(imagegen.ClassRateLimited), true},
		"the other cannot be reached":  {fails(imagegen.ClassUnavailable), false},
		"the other needs its operator": {fails(imagegen.ClassBlocked), false},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			_, err := call(t.Context(), build(t, router.Config{}, member("a", overloaded), member("b", test.b)),
				request(1))
			p, ok := errors.AsType[*imagegen.ProviderError](err)
			is.True(ok)
			is.Equal(p.Overloaded, test.want)
		})
	}
}

func TestRetries(t *testing.T) {
	unavailable, invalid := fails(imagegen.ClassUnavailable), fails(imagegen.ClassInvalid)
	limited := func(d time.Duration) turn { return makes(0, failure(imagegen.ClassRateLimited, d)) }
	for name, test := range map[string]struct {
		turns []turn
		calls int
		took  time.Duration
		class int
	}{
		"until it works": {[]turn{unavailable, unavailable, works}, 3, 3 * time.Second, -1},
		"until there are none left": {[]turn{unavailable}, 4, 7 * time.Second,
			int(imagegen.ClassUnavailable)},
		"as late as the member asks for": {[]turn{limited(9 * time.Second), works}, 2, 9 * time.Second, -1},
		"never sooner than the backoff":  {[]turn{limited(time.Millisecond), works}, 2, time.Second, -1},
		"not if the member asks for too long": {[]turn{limited(31 * time.Second), works}, 1, 0,
			int(imagegen.ClassRateLimited)},
		"not after what cannot be passed on": {[]turn{unavailable, invalid}, 2, time.Second,
			int(imagegen.ClassInvalid)},
		"not for an operator": {[]turn{fails(imagegen.ClassBlocked)}, 1, 0,
			int(imagegen.ClassBlocked)},
		"not while a job is under way": {[]turn{saves(unavailable, []byte("1"))}, 1, 0,
			int(imagegen.ClassUnavailable)},
		"for the rest if some images are made": {[]turn{makes(1, failure(imagegen.ClassUnavailable, 0)), works}, 2,
			time.Second, -1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is := is.New(t)
				start := time.Now()
				a := member("a", test.turns...)
				made, err := call(t.Context(), build(t, router.Config{Retries: 3, FailureThreshold: 9}, a), request(2))
				is.Equal(classOf(err), test.class)
				is.Equal(a.calls(), test.calls)
				is.Equal(time.Since(start), test.took)
				is.True(len(made) == 2 || err != nil)
			})
		})
	}
}

func TestPauseEndsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		why := errors.New("the service is draining")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(300*time.Millisecond, func() { cancel(why) })
		start := time.Now()
		_, err := call(ctx, build(t, router.Config{Retries: 1}, member("a", fails(imagegen.ClassUnavailable))),
			request(1))
		is.True(errors.Is(err, why))
		is.Equal(time.Since(start), 300*time.Millisecond)
	})
}

func TestStopsWhenNoMoreIsWanted(t *testing.T) {
	is := is.New(t)
	a, b := member("a", makes(1, failure(imagegen.ClassUnavailable, 0))), member("b", works)
	for _, err := range build(t, router.Config{}, a, b).Generate(t.Context(), request(3)) {
		is.NoErr(err)
		break
	}
	is.Equal(cmp.Diff([]int{1, 0}, []int{a.calls(), b.calls()}), "")
}
