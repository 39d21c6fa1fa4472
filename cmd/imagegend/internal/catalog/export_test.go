package catalog

import (
	"maps"
	"slices"
)

// Keys lists the keys of each type of provider, beside type.
func Keys() map[string][]string {
	all := map[string][]string{}
	for name, begin := range (source{}).kinds() {
		all[name] = slices.Sorted(maps.Keys(source{}.keys(begin().block)))
	}
	return all
}
