package memory_test

import (
	"testing"

	"github.com/imagegend/imagegend/imagegen/imagegentest"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
)

func TestFlow(t *testing.T) {
	imagegentest.Flow(t, func(*testing.T) imagegentest.Storage { return memory.New(nil) })
}
