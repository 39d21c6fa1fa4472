package catalog

import (
	"maps"
	"slices"
)

// Keys lists the keys of each type of provider, beside type.
func Keys() map[string][]string {
	all := map[string][]string{}
	for name, begin := range kinds() {
		all[name] = slices.Sorted(maps.Keys(begin(source{}).keys))
	}
	return all
}
