package storage_test

import (
	"testing"

	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

func TestFlow(t *testing.T) {
	imagegentest.Flow(t, func(t *testing.T) imagegentest.Storage { return openDir(t, t.TempDir(), nil) })
}

func TestPrices(t *testing.T) {
	imagegentest.Prices(t, func(t *testing.T) imagegentest.Fixture {
		e := imagegentest.StartOver(t, open(t, nil), func(c *engine.Config) {
			c.Models = []engine.Model{imagegentest.Priced()}
		})
		return imagegentest.Fixture{Alice: e.As(imagegentest.Alice), Bob: e.As(imagegentest.Bob)}
	})
}

// No file stays behind when its work has ended.
func TestTidy(t *testing.T) {
	imagegentest.Tidy(t, func(t *testing.T) imagegentest.Tidied { return open(t, nil) })
}

func TestTotals(t *testing.T) {
	imagegentest.Totals(t, func(t *testing.T) imagegentest.Storage { return open(t, nil) })
}

func TestTeam(t *testing.T) {
	imagegentest.Team(t, func(t *testing.T) []imagegentest.Storage { return []imagegentest.Storage{open(t, nil)} })
}

func TestPayers(t *testing.T) {
	imagegentest.Payers(t, func(t *testing.T) imagegentest.Storage { return open(t, nil) })
}
