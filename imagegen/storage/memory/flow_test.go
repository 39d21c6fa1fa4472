package memory_test

import (
	"testing"

	"github.com/imagegend/imagegend/imagegen/imagegentest"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
)

func TestFlow(t *testing.T) {
	imagegentest.Flow(t, func(*testing.T) imagegentest.Storage { return memory.New(nil) })
}

// No file stays behind when its work has ended.
func TestTidy(t *testing.T) {
	imagegentest.Tidy(t, func(t *testing.T) imagegentest.Tidied { return memory.New(nil) })
}

func TestTotals(t *testing.T) {
	imagegentest.Totals(t, func(*testing.T) imagegentest.Storage { return memory.New(nil) })
}

func TestTeam(t *testing.T) {
	imagegentest.Team(t, func(*testing.T) []imagegentest.Storage { return []imagegentest.Storage{memory.New(nil)} })
}

func TestPayers(t *testing.T) {
	imagegentest.Payers(t, func(*testing.T) imagegentest.Storage { return memory.New(nil) })
}
