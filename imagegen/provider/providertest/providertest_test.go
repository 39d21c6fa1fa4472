package providertest_test

import (
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/provider/providertest"
)

func TestFake(t *testing.T) {
	providertest.Run(t, providertest.Config{
		New:     func(*testing.T) imagegen.Provider { return &provider.Fake{} },
		Endless: "[fake:hang]",
		Sample:  true,
	})
}
