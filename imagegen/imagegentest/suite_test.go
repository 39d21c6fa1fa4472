package imagegentest_test

import (
	"testing"

	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

func TestInProcess(t *testing.T) {
	imagegentest.Service(t, func(t *testing.T) imagegentest.Fixture {
		e := imagegentest.Start(t)
		return imagegentest.Fixture{Alice: e.As(imagegentest.Alice), Bob: e.As(imagegentest.Bob)}
	})
}
