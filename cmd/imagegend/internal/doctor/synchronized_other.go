//go:build !linux

package doctor

// synchronized returns that it is not known: other systems have no common interface for it.
func synchronized() (kept, known bool) { return false, false }
