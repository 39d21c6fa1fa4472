package admin

import "github.com/imagegend/imagegend/imagegen"

// each converts every element. The result is never nil, so that an empty list is [] in JSON and not null.
func each[T, V any](all []T, view func(T) V) []V {
	views := make([]V, len(all))
	for i, t := range all {
		views[i] = view(t)
	}
	return views
}

// listed returns the list itself, but never nil, as each does.
func listed[T any](all []T) []T { return append([]T{}, all...) }

// checkLimit refuses a list of less than one element, which would look like one that is empty.
func checkLimit(n int) error {
	if n < 1 {
		return words(imagegen.Invalid("limit is at least 1; got %d", n))
	}
	return nil
}
