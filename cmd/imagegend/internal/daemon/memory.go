package daemon

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// gcPercent lets the heap grow to five times what is live before it is collected. Little is live, so that costs
	// little memory and saves much of the time for collecting.
	gcPercent = 400
	// memoryLimit is the size, in bytes, from which on memory counts more than time: near it the collector runs more
	// often. 64 images of 1.4 MB that wait for the disk take 90 MiB.
	memoryLimit = 112 << 20
)

// tuneMemory sets the garbage collector for a server, unless GOGC or GOMEMLIMIT do. The limit is soft and bounds
// nothing: what the service holds is bounded by its own limits.
func tuneMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		limitMemory()
	}
}

// limitMemory sets the limit now and after each collection. It leaves a quarter above what is live: with more live than
// the limit allows, the collector would take half of the processor time.
func limitMemory() {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	debug.SetMemoryLimit(max(memoryLimit, int64(live[0].Value.Uint64()/4*5)))
	// The garbage of the next collection calls again.
	runtime.AddCleanup(new(*int), func(struct{}) { limitMemory() }, struct{}{})
}
