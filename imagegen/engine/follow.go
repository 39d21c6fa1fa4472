package engine

import (
	"context"

	"github.com/imagegend/imagegend/imagegen"
)

// progress is what a synchronous call is told about its work: images that are shown, and
// finally the outcome.
type progress struct {
	record imagegen.Record
	err    error // with which the outcome is in doubt
	ended  bool
}

// follow waits for the end of the work. The work goes on if the caller leaves.
func (c *call) follow(ctx context.Context, id imagegen.GenerationID, heard <-chan progress) (imagegen.Result, error) {
	e := c.engine
	for {
		select {
		case <-ctx.Done():
			e.hangUp(id)
			return imagegen.Result{}, ctx.Err()
		case n := <-heard:
			switch {
			case n.err != nil:
				e.hangUp(id) // what recovery makes of it is its caller's, who asks again
				return imagegen.Result{}, unknownOutcome(id, n.err)
			case n.ended:
				return answer(n.record)
			}
			c.show(n.record)
		}
	}
}

// show tells the caller about images of work that is still running, if there are more
// than before.
func (c *call) show(r imagegen.Record) {
	if g := r.Generation(); c.request.Shown != nil && g.Status == imagegen.StatusProcessing && len(g.Images) > c.shown {
		c.shown = len(g.Images)
		c.request.Shown(g)
	}
}
