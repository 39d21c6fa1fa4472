// Package history counts how upstreams have answered, and how long generations took.
package history

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// Hours is how many hours a History covers, with the current one.
const Hours = 48

// History counts, hour by hour, how upstreams have answered and how long generations took. It covers at most
// Hours, in memory, so it begins empty with each process and covers only the work of this process. It is safe for
// concurrent use.
type History struct {
	now   func() time.Time
	since time.Time // when it was made

	mu        sync.Mutex // guards the maps and the rings in them
	upstreams map[Upstream]*ring[Answers]
	models    map[string]*ring[Durations]
}

// New returns an empty History. now should be the console's clock; nil: time.Now.
func New(now func() time.Time) *History {
	if now == nil {
		now = time.Now
	}
	return &History{now: now, since: now(),
		upstreams: make(map[Upstream]*ring[Answers]), models: make(map[string]*ring[Durations])}
}

// Begun is the beginning of the time that the history covers.
func (h *History) Begun(now time.Time) time.Time {
	if first := now.Truncate(time.Hour).Add((1 - Hours) * time.Hour); first.After(h.since) {
		return first
	}
	return h.since
}

// Upstream is a provider of a model or, behind a router, one of its members; Member is "" otherwise. A History grows
// with the number of upstreams, which the configuration bounds.
type Upstream struct{ Model, Provider, Member string }

// Answers counts the attempts at an upstream. Refused are those whose request it refused or found invalid.
type Answers struct{ All, Failed, Refused int }

// Observe counts an event. Behind a router it counts each member that was asked, and not the attempt as a whole.
func (h *History) Observe(e imagegen.Event) {
	switch e.Kind {
	case imagegen.EventAttempted:
		if e.Members == 0 { // otherwise each EventAsked was counted
			h.countAttempt(e)
		}
	case imagegen.EventAsked:
		h.countAttempt(e)
	case imagegen.EventSettled: // only these succeeded
		h.mu.Lock()
		defer h.mu.Unlock()
		currentHour(h.models, e.Generation.Model, h.now()).count(e.Duration)
	}
}

// countAttempt counts an attempt. What the upstream refused, and a request that it found invalid, are not failures of
// its own.
func (h *History) countAttempt(e imagegen.Event) {
	ending := imagegen.EndingOf(e.Count, e.Err)
	if ending == imagegen.EndedStopped {
		return // this service stopped it, which says nothing about the upstream
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	a := currentHour(h.upstreams, Upstream{e.Generation.Model, e.Provider, e.Member}, h.now())
	a.All++
	switch ending {
	case imagegen.EndedOK:
	case imagegen.EndedInvalid, imagegen.EndedRefused:
		a.Refused++
	default:
		a.Failed++
	}
}

// UpstreamHistory is what a History knows about an upstream.
type UpstreamHistory struct {
	Upstream
	Hours [Hours]Answers // the current hour last
}

// Upstreams returns the history of each upstream that was asked within the last Hours, by model, provider and
// member.
func (h *History) Upstreams(now time.Time) (all []UpstreamHistory) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, u := range slices.SortedFunc(maps.Keys(h.upstreams), func(a, b Upstream) int {
		return cmp.Or(cmp.Compare(a.Model, b.Model), cmp.Compare(a.Provider, b.Provider),
			cmp.Compare(a.Member, b.Member))
	}) {
		if hours := h.upstreams[u].hours(now); hours != [Hours]Answers{} {
			all = append(all, UpstreamHistory{u, hours})
		}
	}
	return all
}

// Durations returns how long the generations that succeeded took, for each model.
func (h *History) Durations(now time.Time) map[string]Durations {
	// The histograms of the hours are added up, so a percentile is one of all hours together.
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make(map[string]Durations, len(h.models))
	for model, r := range h.models {
		var sum Durations
		for _, hour := range r.hours(now) {
			for i, n := range hour {
				sum[i] += n
			}
		}
		all[model] = sum
	}
	return all
}

// ring keeps a value for each of the latest hours. An element whose hour is not the one asked for is out of date and
// counts as empty, so nothing has to be cleared as time goes by.
type ring[T any] [Hours]struct {
	hour int64 // since 1970
	kept T
}

const secondsPerHour = int64(time.Hour / time.Second)

// currentHour returns the value of the current hour in the ring of a key, for the caller to change while it holds
// History.mu. It makes the ring, and clears an element that is out of date.
func currentHour[K comparable, T any](rings map[K]*ring[T], key K, now time.Time) *T {
	r := rings[key]
	if r == nil {
		r = new(ring[T])
		rings[key] = r
	}
	hour := now.Unix() / secondsPerHour
	current := &r[hour%Hours]
	if current.hour != hour { // it belongs to another hour
		var none T
		current.hour, current.kept = hour, none
	}
	return &current.kept
}

// hours returns the values of the last Hours, the current hour last.
func (r *ring[T]) hours(now time.Time) (all [Hours]T) {
	last := now.Unix() / secondsPerHour
	for i := range all {
		hour := last - Hours + 1 + int64(i)
		if current := r[hour%Hours]; current.hour == hour {
			all[i] = current.kept
		}
	}
	return all
}
