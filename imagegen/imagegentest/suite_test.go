package imagegentest_test

import (
	"testing"

	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
	"github.com/imagegend/imagegend/imagegen/storage"
	"github.com/imagegend/imagegend/imagegen/storage/storagetest"
)

// A counted spool keeps what the spool of a storage can do beside it.
func TestCountedSpoolForwards(t *testing.T) {
	storagetest.Forwards(t, new(imagegentest.CountedSpool), new(storage.DB))
}

func TestInProcess(t *testing.T) {
	imagegentest.Service(t, func(t *testing.T) imagegentest.Fixture {
		e := imagegentest.Start(t)
		return imagegentest.Fixture{Alice: e.As(imagegentest.Alice), Bob: e.As(imagegentest.Bob)}
	})
}

func TestPricesInProcess(t *testing.T) {
	imagegentest.Prices(t, func(t *testing.T) imagegentest.Fixture {
		e := imagegentest.Start(t, func(c *engine.Config) { c.Models = []engine.Model{imagegentest.Priced()} })
		return imagegentest.Fixture{Alice: e.As(imagegentest.Alice), Bob: e.As(imagegentest.Bob)}
	})
}
