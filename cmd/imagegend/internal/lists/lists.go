// Package lists converts lists.
package lists

// Each converts every element. The result is never nil, so that an empty list is [] in JSON and not null.
func Each[T, V any](all []T, convert func(T) V) []V {
	converted := make([]V, len(all))
	for i, t := range all {
		converted[i] = convert(t)
	}
	return converted
}
