package mcpserver

import (
	"context"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/imagegend/imagegend/imagegen"
)

// heartbeat is the longest time between two notifications of progress.
const heartbeat = 5 * time.Second

// await waits for the end of a generation, at most as long as MaxWait, and reports progress every heartbeat, since
// clients give up on a silent call. When MaxWait is over, or the service does not let the call wait, it returns the
// generation as it is, without an error.
func (t *tools) await(ctx context.Context, r *mcp.CallToolRequest, g imagegen.Generation) (imagegen.Generation, error) {
	for began := time.Now(); !g.Status.Terminal(); {
		t.progress(ctx, r, g, began)
		asked := time.Now()
		most := min(heartbeat, t.MaxWait-asked.Sub(began))
		if most <= 0 {
			return g, nil
		}
		now, err := t.Await(ctx, g.ID, most)
		if err != nil {
			return g, err
		}
		// It stops, or too many calls of this caller wait. The clock of a service elsewhere may be faster.
		refused := time.Since(asked) < most/2
		if g = now; refused {
			return g, nil
		}
	}
	return g, nil
}

// progress reports how far a generation has come, if the caller asked for that. A report that cannot be sent is not a
// failure of the call.
func (t *tools) progress(ctx context.Context, r *mcp.CallToolRequest, g imagegen.Generation, began time.Time) {
	if token := r.Params.GetProgressToken(); token != nil { // a caller that sends none wants no reports
		waited := time.Since(began)
		r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: waited.Seconds(),
			Message: fmt.Sprintf("%s is %s, after %d s", g.ID, g.Status, int(waited.Seconds()))})
	}
}
