package providertest

import (
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/internal/optionaltest"
)

// Forwards fails the test for each optional interface that wrapped implements and wrapper does not, such as
// [imagegen.Checker]. Only their types count.
func Forwards(t *testing.T, wrapper, wrapped imagegen.Provider) {
	t.Helper()
	for _, lost := range optionaltest.Lost(wrapper, wrapped) {
		t.Error(lost)
	}
}

// optionalMethods looks for methods that have the name of an optional one, and would never be called.
func optionalMethods(t *testing.T, c Config) {
	for _, wrong := range optionaltest.Misdeclared(c.New(t)) {
		t.Error(wrong)
	}
}
