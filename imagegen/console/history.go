package console

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// HistoryHours is how far back a [History] goes.
const HistoryHours = 48

// History counts by the hour how upstreams have answered, and how long generations took, since it was made and for
// HistoryHours at most, in memory. It is an [imagegen.Observer]: of the engine that the console shows.
type History struct {
	now   func() time.Time
	since time.Time

	mu        sync.Mutex
	upstreams map[upstream]*ring[answers]
	models    map[string]*ring[durations]
}

// NewHistory makes one that has seen nothing yet. now is the console's clock; nil: time.Now.
func NewHistory(now func() time.Time) *History {
	if now == nil {
		now = time.Now
	}
	return &History{now: now, since: now(), upstreams: make(map[upstream]*ring[answers]), models: make(map[string]*ring[durations])}
}

// watched is since when it knows what was.
func (h *History) watched(now time.Time) time.Time {
	if first := now.Truncate(time.Hour).Add((1 - HistoryHours) * time.Hour); first.After(h.since) {
		return first
	}
	return h.since
}

// upstream is whoever makes the images of a model, or one of several who do.
type upstream struct{ Model, Provider, Member string }

func (u upstream) compare(o upstream) int {
	return cmp.Or(cmp.Compare(u.Model, o.Model), cmp.Compare(u.Provider, o.Provider), cmp.Compare(u.Member, o.Member))
}

// answers are what an upstream has answered.
type answers struct{ All, Failed int }

var _ imagegen.Observer = (*History)(nil)

// Begin implements [imagegen.Observer].
func (h *History) Begin(ctx context.Context, _ imagegen.Event) context.Context { return ctx }

// Observe implements [imagegen.Observer].
func (h *History) Observe(_ context.Context, e imagegen.Event) {
	switch e.Kind {
	case imagegen.EventAttempted:
		if e.Members == 0 { // else the members were counted
			h.answered(e)
		}
	case imagegen.EventAsked:
		h.answered(e)
	case imagegen.EventSettled:
		h.took(e.Generation.Model, e.Duration)
	}
}

func (h *History) answered(e imagegen.Event) {
	ending := imagegen.EndingOf(e.Count, e.Err)
	if ending == imagegen.EndedStopped {
		return // it says nothing of the upstream
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	a := slot(h.upstreams, upstream{e.Generation.Model, e.Provider, e.Member}, h.now())
	a.All++
	if ending != imagegen.EndedWell && ending != imagegen.EndedInvalid && ending != imagegen.EndedRefused {
		a.Failed++
	}
}

func (h *History) took(model string, d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	slot(h.models, model, h.now()).add(d)
}

// upstreamHistory is what a History tells of an upstream.
type upstreamHistory struct {
	upstream
	Hours [HistoryHours]answers // the present one last
}

// health tells of each upstream that was asked within the time that the history goes back.
func (h *History) health(now time.Time) (all []upstreamHistory) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, u := range slices.SortedFunc(maps.Keys(h.upstreams), upstream.compare) {
		if hours := h.upstreams[u].hours(now); hours != [HistoryHours]answers{} {
			all = append(all, upstreamHistory{u, hours})
		}
	}
	return all
}

// latencies tells how long the generations of each model took that succeeded.
func (h *History) latencies(now time.Time) map[string]durations {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make(map[string]durations, len(h.models))
	for model, r := range h.models {
		var sum durations
		for _, hour := range r.hours(now) {
			sum.merge(hour)
		}
		all[model] = sum
	}
	return all
}

// ring keeps something for each of the latest hours.
type ring[T any] [HistoryHours]struct {
	hour int64 // since 1970
	kept T
}

const secondsPerHour = int64(time.Hour / time.Second)

// slot is what a ring keeps for the hour.
func slot[K comparable, T any](rings map[K]*ring[T], key K, now time.Time) *T {
	r := rings[key]
	if r == nil {
		r = new(ring[T])
		rings[key] = r
	}
	hour := now.Unix() / secondsPerHour
	current := &r[hour%HistoryHours]
	if current.hour != hour { // it is that of two days ago
		var none T
		current.hour, current.kept = hour, none
	}
	return &current.kept
}

// hours is what is kept, the present hour last.
func (r *ring[T]) hours(now time.Time) (all [HistoryHours]T) {
	last := now.Unix() / secondsPerHour
	for i := range all {
		hour := last - HistoryHours + 1 + int64(i)
		if current := r[hour%HistoryHours]; current.hour == hour {
			all[i] = current.kept
		}
	}
	return all
}
