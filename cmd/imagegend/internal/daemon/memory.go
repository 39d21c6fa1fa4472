package daemon

import (
	"os"
	"runtime/debug"
)

const (
	// gcPercent trades memory, of which little is held, for the time that collecting takes.
	gcPercent = 400
	// memoryLimit is from where on collecting takes precedence again.
	memoryLimit = 192 << 20
)

// tuneMemory sets the collector for a server, unless the environment does. It does not bound what
// is held, which the limits of the service do.
func tuneMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
}
