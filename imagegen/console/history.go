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

// HistoryHours is how many hours a [History] covers, with the current one.
const HistoryHours = 48

// History counts, hour by hour, how upstreams have answered and how long generations took. It covers at most
// HistoryHours, in memory, so it begins empty with each process and covers only the work of this process. It must be an
// [imagegen.Observer] of Config.Engine. It is safe for concurrent use.
type History struct {
	now   func() time.Time
	since time.Time // when it was made

	mu        sync.Mutex // guards the maps and the rings in them
	upstreams map[upstream]*ring[answers]
	models    map[string]*ring[durations]
}

// NewHistory returns an empty History. now should be the console's clock; nil: time.Now.
func NewHistory(now func() time.Time) *History {
	if now == nil {
		now = time.Now
	}
	return &History{now: now, since: now(), upstreams: make(map[upstream]*ring[answers]), models: make(map[string]*ring[durations])}
}

// watched is the beginning of the time that the history covers.
func (h *History) watched(now time.Time) time.Time {
	if first := now.Truncate(time.Hour).Add((1 - HistoryHours) * time.Hour); first.After(h.since) {
		return first
	}
	return h.since
}

// upstream is a provider of a model or, behind a router, one of its members; Member is "" otherwise. A History grows
// with the number of upstreams, which the configuration bounds.
type upstream struct{ Model, Provider, Member string }

// compare orders upstreams by model, provider and member.
func (u upstream) compare(o upstream) int {
	return cmp.Or(cmp.Compare(u.Model, o.Model), cmp.Compare(u.Provider, o.Provider), cmp.Compare(u.Member, o.Member))
}

// answers counts the attempts at an upstream.
type answers struct{ All, Failed int }

var _ imagegen.Observer = (*History)(nil)

// Begin implements [imagegen.Observer].
func (h *History) Begin(ctx context.Context, _ imagegen.Event) context.Context { return ctx }

// Observe implements [imagegen.Observer]. Behind a router it counts each member that was asked, and not the attempt as a
// whole.
func (h *History) Observe(_ context.Context, e imagegen.Event) {
	switch e.Kind {
	case imagegen.EventAttempted:
		if e.Members == 0 { // otherwise each EventAsked was counted
			h.answered(e)
		}
	case imagegen.EventAsked:
		h.answered(e)
	case imagegen.EventSettled: // only these succeeded
		h.took(e.Generation.Model, e.Duration)
	}
}

// answered counts an attempt. What the upstream refused, and a request that it found invalid, are no failures of its
// own.
func (h *History) answered(e imagegen.Event) {
	ending := imagegen.EndingOf(e.Count, e.Err)
	if ending == imagegen.EndedStopped {
		return // this service stopped it, which says nothing about the upstream
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	a := slot(h.upstreams, upstream{e.Generation.Model, e.Provider, e.Member}, h.now())
	a.All++
	if ending != imagegen.EndedOK && ending != imagegen.EndedInvalid && ending != imagegen.EndedRefused {
		a.Failed++
	}
}

// took counts how long a successful generation took, from its creation to its end.
func (h *History) took(model string, d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	slot(h.models, model, h.now()).add(d)
}

// upstreamHistory is what a History knows about an upstream.
type upstreamHistory struct {
	upstream
	Hours [HistoryHours]answers // the current hour last
}

// health returns the history of each upstream that was asked within the last HistoryHours, by model, provider and
// member.
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

// latencies returns how long the generations that succeeded took, for each model.
func (h *History) latencies(now time.Time) map[string]durations {
	// The histograms of the hours are added up, so a percentile is one of all hours together.
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

// ring keeps a value for each of the latest hours. An element whose hour is not the one asked for is out of date and
// counts as empty, so nothing has to be cleared as time goes by.
type ring[T any] [HistoryHours]struct {
	hour int64 // since 1970
	kept T
}

const secondsPerHour = int64(time.Hour / time.Second)

// slot returns the value of the current hour in the ring of a key, for the caller to change while it holds
// History.mu. It makes the ring, and clears an element that is out of date.
func slot[K comparable, T any](rings map[K]*ring[T], key K, now time.Time) *T {
	r := rings[key]
	if r == nil {
		r = new(ring[T])
		rings[key] = r
	}
	hour := now.Unix() / secondsPerHour
	current := &r[hour%HistoryHours]
	if current.hour != hour { // it belongs to another hour
		var none T
		current.hour, current.kept = hour, none
	}
	return &current.kept
}

// hours returns the values of the last HistoryHours, the current hour last.
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
