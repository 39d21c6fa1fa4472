package console_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console"
)

// attempt is how an attempt with m-1 ended.
func attempt(images int, err error) imagegen.Event {
	return imagegen.Event{Kind: imagegen.EventAttempted, Generation: imagegen.Generation{Model: "m-1"}, Provider: "fal", Count: images, Err: err}
}

func classed(c imagegen.Class) error { return &imagegen.ProviderError{Class: c} }

// What is the upstream's fault counts as such; what says nothing of it does not count.
func TestHistoryJudges(t *testing.T) {
	for _, c := range []struct {
		name string
		e    imagegen.Event
		want console.Answers
	}{
		{"well", attempt(1, nil), console.Answers{All: 1}},
		{"refused", attempt(0, classed(imagegen.ClassRefused)), console.Answers{All: 1}},
		{"invalid", attempt(0, classed(imagegen.ClassInvalid)), console.Answers{All: 1}},
		{"unavailable", attempt(0, classed(imagegen.ClassUnavailable)), console.Answers{All: 1, Failed: 1}},
		{"rate-limited", attempt(0, classed(imagegen.ClassRateLimited)), console.Answers{All: 1, Failed: 1}},
		{"unusable", attempt(1, classed(imagegen.ClassUnusable)), console.Answers{All: 1, Failed: 1}},
		{"nothing", attempt(0, nil), console.Answers{All: 1, Failed: 1}},
		{"unknown", attempt(0, errors.New("?")), console.Answers{All: 1, Failed: 1}},
		{"stopped", attempt(0, imagegen.ErrStopping), console.Answers{}},
	} {
		h := console.NewHistory(nil)
		h.Observe(t.Context(), c.e)
		var got console.Answers
		for _, u := range h.Health(time.Now()) {
			got = u.Hours[console.HistoryHours-1]
		}
		if got != c.want {
			t.Errorf("%s: %+v, not %+v", c.name, got, c.want)
		}
	}
}

// Hours stand where they belong, and go when they are two days old.
func TestHistoryByTheHour(t *testing.T) {
	is := is.New(t)
	now := &clock{now: time.Date(2027, 3, 4, 12, 59, 59, 0, time.UTC)}
	h := console.NewHistory(now.Now)
	pattern := func() (asked []int) {
		for _, u := range h.Health(now.Now()) {
			for _, hour := range u.Hours {
				asked = append(asked, hour.All)
			}
		}
		return asked
	}
	hours := func(last ...int) []int { return append(make([]int, console.HistoryHours-len(last)), last...) }
	h.Observe(t.Context(), attempt(1, nil))
	h.Observe(t.Context(), attempt(1, nil))
	now.Advance(time.Second)
	is.Equal(cmp.Diff(hours(2, 0), pattern()), "")
	now.Advance(2 * time.Hour)
	h.Observe(t.Context(), attempt(1, nil))
	is.Equal(cmp.Diff(hours(2, 0, 0, 1), pattern()), "")
	now.Advance((console.HistoryHours - 4) * time.Hour)
	is.Equal(pattern()[0], 2)
	now.Advance(time.Hour)
	is.Equal(pattern()[:3], []int{0, 0, 1})
	h.Observe(t.Context(), attempt(1, nil)) // in the place of the two
	is.Equal(pattern()[console.HistoryHours-1], 1)
	now.Advance(console.HistoryHours * time.Hour)
	is.Equal(len(pattern()), 0)
}

// Of a router its members are told, each apart.
func TestHistoryOfMembers(t *testing.T) {
	is, h := is.New(t), console.NewHistory(nil)
	asked := func(member string, err error) {
		e := attempt(1, err)
		e.Kind, e.Member = imagegen.EventAsked, member
		h.Observe(h.Begin(t.Context(), e), e)
	}
	asked("b", classed(imagegen.ClassUnavailable))
	asked("a", nil)
	whole := attempt(1, nil)
	whole.Members = 2
	h.Observe(t.Context(), whole)
	var got []string
	for _, u := range h.Health(time.Now()) {
		got = append(got, u.Model+" "+u.Provider+" "+u.Member)
	}
	is.Equal(got, []string{"m-1 fal a", "m-1 fal b"})
}

func TestDurations(t *testing.T) {
	is, h := is.New(t), console.NewHistory(nil)
	took := func(times int, d time.Duration) {
		for range times {
			h.Observe(t.Context(), imagegen.Event{Kind: imagegen.EventSettled, Generation: imagegen.Generation{Model: "m-1"}, Duration: d})
		}
	}
	within := func(parts ...float64) (all []string) {
		for _, p := range parts {
			all = append(all, h.Within("m-1", p, time.Now()))
		}
		return all
	}
	is.Equal(within(0.5), []string{""})
	took(1, 0)
	is.Equal(within(0.5, 0.95), []string{"0.1 s", "0.1 s"})
	took(9, 12*time.Second)
	took(9, 12*time.Second+1)
	took(1, time.Hour)
	is.Equal(within(0.05, 0.5, 0.51, 0.95, 1), []string{"0.1 s", "12 s", "15 s", "15 s", "over 800 s"})
}
