package daemon

import (
	"os"
	"runtime/debug"
)

const (
	// gcPercent lets the heap grow to five times what is live before it is collected. Little is live, so that costs
	// little memory and saves much of the time for collecting.
	gcPercent = 400
	// memoryLimit is the size, in bytes, from which on memory counts more than time: near it the collector runs more
	// often.
	memoryLimit = 192 << 20
)

// tuneMemory sets the garbage collector for a server, unless GOGC or GOMEMLIMIT do. The limit is soft and bounds
// nothing: what the service holds is bounded by its own limits.
func tuneMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
}
