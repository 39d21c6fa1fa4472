package router_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/router"
)

// interrupted begins a generation whose last member saves a job and is cut short, and returns the
// request of the next attempt.
func interrupted(t *testing.T, n int, members ...*scripted) imagegen.ProviderRequest {
	is := is.New(t)
	r := request(n)
	var kept []byte
	r.SaveJob = func(_ context.Context, job []byte) error { kept = job; return nil }
	_, err := call(t.Context(), build(t, router.Config{}, members...), r)
	is.Equal(classOf(err), int(imagegen.ClassUnknown))
	r.Job = kept
	return r
}

func cutShort(job string) turn { return saves(fails(imagegen.ClassUnknown), []byte(job)) }

func TestResumesAtTheSameMember(t *testing.T) {
	is := is.New(t)
	r := interrupted(t, 2, member("a", fails(imagegen.ClassUnavailable)), member("b", cutShort("job 7")))
	a, b := member("a", works), member("b", works)
	made, err := call(t.Context(), build(t, router.Config{}, a, b), r)
	is.NoErr(err)
	is.Equal(made, []string{"b", "b"})
	is.Equal(a.calls(), 0)
	is.Equal(string(b.asked[0].Job), "job 7")
	is.Equal(b.asked[0].Key, "gen_1")
}

// The second member had a job for two of three images only; the one that was made before it has
// gone with the first attempt.
func TestResumedJobCoversPart(t *testing.T) {
	is := is.New(t)
	r := interrupted(t, 3, member("a", makes(1, failure(imagegen.ClassUnavailable, 0))), member("b", cutShort("job 7")))
	a, b := member("a", works), member("b", works)
	made, err := call(t.Context(), build(t, router.Config{}, a, b), r)
	is.NoErr(err)
	is.Equal(made, []string{"b", "b", "a"})
	is.Equal(b.asked[0].N, 2)
	is.Equal(b.asked[0].Key, "gen_1-1") // as when it was submitted
	is.Equal(a.asked[0].N, 1)
	is.Equal(a.asked[0].Job, nil) // a new submission
	is.True(a.asked[0].Key != "gen_1" && a.asked[0].Key != b.asked[0].Key)
}

func TestStopsWithinResumedJob(t *testing.T) {
	is := is.New(t)
	r := interrupted(t, 3, member("a", makes(1, failure(imagegen.ClassUnavailable, 0))), member("b", cutShort("job 7")))
	a := member("a", works)
	for _, err := range build(t, router.Config{}, a, member("b", works)).Generate(t.Context(), r) {
		is.NoErr(err)
		break
	}
	is.Equal(a.calls(), 0)
}

func TestResumedJobFails(t *testing.T) {
	for name, test := range map[string]struct {
		end   turn
		made  string
		class int
	}{
		"and may still be at work": {fails(imagegen.ClassUnavailable), "", int(imagegen.ClassUnavailable)},
		"and is forgotten":         {saves(fails(imagegen.ClassUnavailable), nil), "aa", -1},
		"in an unknown way":        {fails(imagegen.ClassUnknown), "", int(imagegen.ClassUnknown)},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			r := interrupted(t, 2, member("b", cutShort("job 7")))
			made, err := call(t.Context(), build(t, router.Config{}, member("a", works), member("b", test.end)), r)
			is.Equal(strings.Join(made, ""), test.made)
			is.Equal(classOf(err), test.class)
		})
	}
}

func TestJobThatCannotBeResumed(t *testing.T) {
	gone := interrupted(t, 1, member("gone", cutShort("job 7")))
	foreign := request(1)
	foreign.Job = []byte("https://upstream.example/jobs/7")
	for name, test := range map[string]struct {
		r    imagegen.ProviderRequest
		says string
	}{
		"its member is gone":        {gone, `"gone"`},
		"it was saved by no router": {foreign, "not saved by a router"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			a := member("a", works)
			made, err := call(t.Context(), build(t, router.Config{}, a), test.r)
			is.Equal(len(made), 0)
			is.Equal(classOf(err), int(imagegen.ClassUnknown))
			is.True(strings.Contains(err.Error(), test.says))
			is.Equal(a.calls(), 0) // nothing is paid twice
		})
	}
}

// A member of the same name whose account is another one has no such job.
func TestJobOfAnotherUpstream(t *testing.T) {
	for name, test := range map[string]struct {
		now   string
		class int
	}{
		"the same": {"bfl, key A", -1},
		"another":  {"bfl, key B", int(imagegen.ClassUnknown)},
		"unknown":  {"", int(imagegen.ClassUnknown)},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			alone := func(upstream string, turns ...turn) (*router.Provider, *scripted) {
				m := member("a", turns...)
				p, err := router.New(router.Config{Members: []router.Member{{Provider: m, Upstream: upstream}}})
				is.NoErr(err)
				return p, m
			}
			r := request(1)
			var kept []byte
			r.SaveJob = func(_ context.Context, job []byte) error { kept = job; return nil }
			before, _ := alone("bfl, key A", cutShort("job 7"))
			_, err := call(t.Context(), before, r)
			is.Equal(classOf(err), int(imagegen.ClassUnknown))
			now, m := alone(test.now, works)
			r.Job = kept
			_, err = call(t.Context(), now, r)
			is.Equal(classOf(err), test.class)
			is.Equal(m.calls() == 1, test.class == -1)
		})
	}
}

func TestJobThatCannotBeSaved(t *testing.T) {
	is := is.New(t)
	full := &imagegen.ProviderError{Class: imagegen.ClassUnavailable, Message: "the disk is full"}
	r := request(1)
	r.SaveJob = func(context.Context, []byte) error { return full }
	a, b := member("a", saves(works, []byte("1"))), member("b", works)
	p := build(t, router.Config{FailureThreshold: 1}, a, b)
	for range 3 {
		made, err := call(t.Context(), p, r)
		is.Equal(len(made), 0)
		is.True(errors.Is(err, full)) // the work was submitted: nobody else is asked
	}
	is.Equal(a.calls(), 3) // which is not a fault of the member's
	is.Equal(b.calls(), 0)
}

// A job that is still kept would be resumed by the next attempt.
func TestJobThatCannotBeForgotten(t *testing.T) {
	is := is.New(t)
	r := request(1)
	r.SaveJob = func(_ context.Context, job []byte) error {
		if job == nil {
			return errors.New("the disk is full")
		}
		return nil
	}
	careless := func(ctx context.Context, r imagegen.ProviderRequest, _ func() bool) error {
		_ = r.SaveJob(ctx, []byte("1"))
		_ = r.SaveJob(ctx, nil)
		return failure(imagegen.ClassUnavailable, 0)
	}
	b := member("b", works)
	_, err := call(t.Context(), build(t, router.Config{}, member("a", careless), b), r)
	is.Equal(classOf(err), int(imagegen.ClassUnavailable))
	is.Equal(b.calls(), 0)
}
