package storage_test

import (
	"testing"

	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

func TestFlow(t *testing.T) {
	imagegentest.Flow(t, func(t *testing.T) imagegentest.Storage { return openDir(t, t.TempDir(), nil) })
}
