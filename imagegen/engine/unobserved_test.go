package engine

import (
	"testing"

	"github.com/imagegend/imagegend/imagegen"
)

// Where nobody listens, a step costs no memory.
func TestUnobservedStepsAllocateNothing(t *testing.T) {
	e := &Engine{catalogs: newCatalogs(&catalog{})}
	ctx, r := t.Context(), imagegen.Record{}
	n := testing.AllocsPerRun(100, func() {
		_, s := e.beginStep(ctx, imagegen.EventAttempted, r)
		s.report(1, nil)
		e.observe(ctx, imagegen.EventSettled, r, 1)
		e.observeWait(ctx, r, 0, nil)
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}
