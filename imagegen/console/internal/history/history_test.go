package history_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/history"
)

// attempt is how an attempt with m-1 ended.
func attempt(images int, err error) imagegen.Event {
	return imagegen.Event{Kind: imagegen.EventAttempted, Generation: imagegen.Generation{Model: "m-1"}, Provider: "fal",
		Count: images, Err: err}
}

func classed(c imagegen.Class) error { return &imagegen.ProviderError{Class: c} }

// Faults of the upstream count as failed, refusals as refused. What the service stopped itself does not count.
func TestHistoryJudges(t *testing.T) {
	for _, c := range []struct {
		name string
		e    imagegen.Event
		want history.Answers
	}{
		{"well", attempt(1, nil), history.Answers{All: 1}},
		{"refused", attempt(0, classed(imagegen.ClassRefused)), history.Answers{All: 1, Refused: 1}},
		{"invalid", attempt(0, classed(imagegen.ClassInvalid)), history.Answers{All: 1, Refused: 1}},
		{"unavailable", attempt(0, classed(imagegen.ClassUnavailable)), history.Answers{All: 1, Failed: 1}},
		{"rate-limited", attempt(0, classed(imagegen.ClassRateLimited)), history.Answers{All: 1, Failed: 1}},
		{"blocked", attempt(1, classed(imagegen.ClassBlocked)), history.Answers{All: 1, Failed: 1}},
		{"nothing", attempt(0, nil), history.Answers{All: 1, Failed: 1}},
		{"unknown", attempt(0, errors.New("?")), history.Answers{All: 1, Failed: 1}},
		{"stopped", attempt(0, imagegen.ErrStopping), history.Answers{}},
	} {
		h := history.New(nil)
		h.Observe(c.e)
		var got history.Answers
		for _, u := range h.Upstreams(time.Now()) {
			got = u.Hours[history.Hours-1]
		}
		if got != c.want {
			t.Errorf("%s: %+v, not %+v", c.name, got, c.want)
		}
	}
}

// Each hour keeps its place, and is dropped after two days.
func TestHistoryByTheHour(t *testing.T) {
	is := is.New(t)
	now := time.Date(2027, 3, 4, 12, 59, 59, 0, time.UTC)
	h := history.New(func() time.Time { return now })
	pattern := func() (asked []int) {
		for _, u := range h.Upstreams(now) {
			for _, hour := range u.Hours {
				asked = append(asked, hour.All)
			}
		}
		return asked
	}
	hours := func(last ...int) []int { return append(make([]int, history.Hours-len(last)), last...) }
	h.Observe(attempt(1, nil))
	h.Observe(attempt(1, nil))
	now = now.Add(time.Second)
	is.Equal(cmp.Diff(hours(2, 0), pattern()), "")
	now = now.Add(2 * time.Hour)
	h.Observe(attempt(1, nil))
	is.Equal(cmp.Diff(hours(2, 0, 0, 1), pattern()), "")
	now = now.Add((history.Hours - 4) * time.Hour)
	is.Equal(pattern()[0], 2)
	now = now.Add(time.Hour)
	is.Equal(pattern()[:3], []int{0, 0, 1})
	h.Observe(attempt(1, nil)) // in the place of the two
	is.Equal(pattern()[history.Hours-1], 1)
	now = now.Add(history.Hours * time.Hour)
	is.Equal(len(pattern()), 0)
}

// The members of a router are counted separately.
func TestHistoryOfMembers(t *testing.T) {
	is, h := is.New(t), history.New(nil)
	asked := func(member string, err error) {
		e := attempt(1, err)
		e.Kind, e.Member = imagegen.EventAsked, member
		h.Observe(e)
	}
	asked("b", classed(imagegen.ClassUnavailable))
	asked("a", nil)
	whole := attempt(1, nil)
	whole.Members = 2
	h.Observe(whole)
	var got []string
	for _, u := range h.Upstreams(time.Now()) {
		got = append(got, u.Model+" "+u.Provider+" "+u.Member)
	}
	is.Equal(got, []string{"m-1 fal a", "m-1 fal b"})
}

func TestDurations(t *testing.T) {
	is, h := is.New(t), history.New(nil)
	took := func(times int, d time.Duration) {
		for range times {
			h.Observe(imagegen.Event{Kind: imagegen.EventSettled, Generation: imagegen.Generation{Model: "m-1"},
				Duration: d})
		}
	}
	within := func(parts ...float64) (all []string) {
		for _, p := range parts {
			all = append(all, h.Durations(time.Now())["m-1"].Within(p))
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
