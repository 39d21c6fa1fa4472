package engine

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

var (
	refusedOf = func(u imagegen.UserID) imagegen.Record { return failedOf(u, imagegen.ClassRefused) }
	failedOf  = func(u imagegen.UserID, c imagegen.Class) imagegen.Record {
		return imagegen.Record{Intent: imagegen.Intent{User: u},
			Progress: imagegen.Progress{Failure: &imagegen.Failure{Class: c}}}
	}
	succeededOf = func(u imagegen.UserID) imagegen.Record {
		return imagegen.Record{Intent: imagegen.Intent{User: u}, Progress: imagegen.Progress{Published: 1}}
	}
)

// A refusal counts for its share of an hour, a success takes one back, and nothing else counts.
func TestRefusalsCount(t *testing.T) {
	is := is.New(t)
	now := time.Unix(1_000_000, 0)
	r := newRefusals(4)
	wait := func(u imagegen.UserID) time.Duration {
		e, _ := errors.AsType[*imagegen.Error](r.checkUser(u, now))
		if e == nil {
			return 0
		}
		is.Equal(e.Code, imagegen.CodeRateLimited)
		return e.RetryAfter
	}
	for range 3 {
		r.noteOutcome(refusedOf("a"), now)
		is.Equal(wait("a"), time.Duration(0))
	}
	for _, class := range []imagegen.Class{imagegen.ClassUnknown, imagegen.ClassRateLimited, imagegen.ClassUnavailable,
		imagegen.ClassBlocked} {
		r.noteOutcome(failedOf("a", class), now)
	}
	is.Equal(wait("a"), time.Duration(0))
	r.noteOutcome(failedOf("a", imagegen.ClassInvalid), now)
	is.Equal(wait("a"), 15*time.Minute)
	is.Equal(wait("b"), time.Duration(0))
	r.noteOutcome(succeededOf("a"), now)
	is.Equal(wait("a"), time.Duration(0))
	for range 100 { // that were under way already
		r.noteOutcome(refusedOf("a"), now)
	}
	is.Equal(wait("a"), 75*time.Minute)
	now = now.Add(-time.Hour) // a clock that is set back gives nothing, and takes nothing
	is.Equal(wait("a"), 75*time.Minute)
	now = now.Add(2*time.Hour + 15*time.Minute)
	is.Equal(wait("a"), time.Duration(0))
	r.noteOutcome(succeededOf("b"), now)
	is.Equal(len(r.users), 1)
	now = now.Add(time.Hour)
	r.noteOutcome(succeededOf("a"), now)
	is.Equal(len(r.users), 0)

	unbounded := newRefusals(-1)
	for range 100 {
		unbounded.noteOutcome(refusedOf("a"), now)
	}
	is.NoErr(unbounded.checkUser("a", now))
	is.Equal(len(unbounded.users), 0)
}

// The table has an end; who is nearest to the bound is not forgotten.
func TestRefusalsAreBounded(t *testing.T) {
	is := is.New(t)
	now := time.Unix(1_000_000, 0)
	r := newRefusals(2)
	for range 2 {
		r.noteOutcome(refusedOf("worst"), now)
	}
	for n := range maxTallies + 50 {
		r.noteOutcome(refusedOf(imagegen.UserID(fmt.Sprint(n))), now)
	}
	is.Equal(len(r.users), maxTallies)
	is.True(errors.Is(r.checkUser("worst", now), imagegen.ErrRateLimited))
}
