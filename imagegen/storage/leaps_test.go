package storage_test

import (
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen/imagegentest"
	"github.com/imagegend/imagegend/imagegen/storage"
)

func TestLeaps(t *testing.T) {
	imagegentest.Leaps(t, func(t *testing.T, wall func() time.Time) func() imagegentest.TimedStore {
		dir := t.TempDir()
		return func() imagegentest.TimedStore { return openDir(t, dir, &storage.Options{Now: wall}) }
	})
}
