package storagetest

import (
	"testing"

	"github.com/imagegend/imagegend/imagegen/internal/optionaltest"
)

// Forwards fails the test for each optional interface that wrapped implements and wrapper does not, such as
// [imagegen.SpaceTaker] of a Spool. It looks at all that both are: Store, Ledger, ImageStore and Spool. Only their
// types count.
//
//	func TestForwards(t *testing.T) { storagetest.Forwards(t, new(mirror.Store), new(storage.DB)) }
func Forwards(t *testing.T, wrapper, wrapped any) {
	t.Helper()
	for _, lost := range optionaltest.Lost(wrapper, wrapped) {
		t.Error(lost)
	}
}

// testOptionalMethods looks for methods that have the name of an optional one, and would never be called.
func testOptionalMethods(t *testing.T, part any) {
	t.Helper()
	for _, wrong := range optionaltest.Misdeclared(part) {
		t.Error(wrong)
	}
}
