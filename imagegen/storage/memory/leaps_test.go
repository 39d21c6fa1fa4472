package memory_test

import (
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen/imagegentest"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
)

func TestLeaps(t *testing.T) {
	imagegentest.Leaps(t, func(_ *testing.T, wall func() time.Time) func() imagegentest.TimedStore {
		db := memory.New(&memory.Options{Now: wall})
		return func() imagegentest.TimedStore { return db }
	})
}
