package daemon

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// changes describes how two sets of models differ, for log and audit trail: one line for each model, in the order of
// the new set, then the removed ones.
func changes(before, after []engine.Model) (lines []string) {
	former := make(map[string]engine.Model, len(before))
	for _, m := range before {
		former[m.ID] = m
	}
	for _, m := range after {
		was, known := former[m.ID]
		if what := changed(was, m, known); len(what) > 0 {
			lines = append(lines, m.ID+": "+strings.Join(what, ", "))
		}
		// What is left in the end was removed.
		delete(former, m.ID)
	}
	for _, id := range slices.Sorted(maps.Keys(former)) {
		lines = append(lines, id+": removed")
	}
	return lines
}

// changed describes what is new about one model; nil if nothing is. known is false if there was no such model before.
func changed(was, is engine.Model, known bool) (what []string) {
	switch {
	case !known && is.Retired:
		return []string{"added, retired"}
	case !known:
		return []string{"added, " + prices(is.Credits)}
	case is.Retired && !was.Retired:
		what = append(what, "retired")
	case was.Retired && !is.Retired:
		what = append(what, "offered again")
	}
	if !maps.Equal(was.Credits, is.Credits) {
		what = append(what, prices(is.Credits)+" instead of "+prices(was.Credits))
	}
	if !slices.Equal(was.Upstreams, is.Upstreams) {
		what = append(what, fmt.Sprintf("made by %s instead of %s", strings.Join(is.Upstreams, "; "),
			strings.Join(was.Upstreams, "; ")))
	}
	if !reflect.DeepEqual(limits(was), limits(is)) {
		what = append(what, "other limits")
	}
	return what
}

// prices describes prices, such as "credits 1K 1, 2K 2".
func prices(credits map[imagegen.Tier]imagegen.Credits) string {
	var all []string
	for _, t := range imagegen.Tiers() {
		if price, ok := credits[t]; ok {
			all = append(all, fmt.Sprintf("%s %d", t, price))
		}
	}
	return "credits " + strings.Join(all, ", ")
}

// limits returns a model without what changed compares by itself, so that two of them differ in limits alone.
// Providers are left out, since each reload makes new ones.
func limits(m engine.Model) engine.Model {
	m.Provider, m.Upstreams, m.Credits, m.Retired = nil, nil, nil, false
	return m
}
