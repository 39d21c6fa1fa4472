package daemon

import (
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/matryer/is"
)

func TestMemoryLimitFollowsWhatIsLive(t *testing.T) {
	is := is.New(t)
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	limitMemory()
	is.Equal(debug.SetMemoryLimit(-1), int64(memoryLimit))

	held := make([]byte, 2*memoryLimit)
	awaitLimit(func(limit int64) bool { return limit >= 2*memoryLimit/4*5 })
	runtime.KeepAlive(held)
	awaitLimit(func(limit int64) bool { return limit == memoryLimit })
}

// awaitLimit collects until the limit is as wanted: what follows a collection runs behind it.
func awaitLimit(wanted func(int64) bool) {
	for !wanted(debug.SetMemoryLimit(-1)) {
		runtime.GC()
	}
}
