//go:build !linux

package doctor

// synchronized is not known.
func synchronized() (kept, known bool) { return false, false }
