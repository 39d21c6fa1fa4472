package mcpserver

import (
	"context"
	"fmt"
	"time"

	"github.com/imagegend/imagegend/imagegen"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	pollSoon  = 100 * time.Millisecond // the first pause between two looks at a generation; each is twice as long
	pollLate  = 2 * time.Second        // the longest
	heartbeat = 5 * time.Second        // the longest time between two notifications of progress
)

// await waits for the end of a generation, at most as long as Patience, and reports progress meanwhile: at
// each change of the status, and about every heartbeat, since clients give up on a silent call. When
// Patience is over it returns the generation as it is, without an error.
func (t *tools) await(ctx context.Context, r *mcp.CallToolRequest, g imagegen.Generation) (imagegen.Generation, error) {
	began := time.Now()
	told := t.progress(ctx, r, g, began)
	for pause := pollSoon; !g.Status.Terminal(); pause = min(2*pause, pollLate) {
		left := t.Patience - time.Since(began)
		if left <= 0 {
			return g, nil
		}
		select {
		case <-ctx.Done():
			return g, ctx.Err()
		case <-time.After(min(pause, left)):
		}
		now, err := t.Generation(ctx, g.ID)
		if err != nil {
			return g, err
		}
		if now.Status != g.Status || time.Since(told) >= heartbeat {
			told = t.progress(ctx, r, now, began)
		}
		g = now
	}
	return g, nil
}

// progress reports how far a generation has come, if the caller asked for that, and returns the time. A
// report that cannot be sent is not a failure of the call.
func (t *tools) progress(ctx context.Context, r *mcp.CallToolRequest, g imagegen.Generation, began time.Time) time.Time {
	now := time.Now()
	if token := r.Params.GetProgressToken(); token != nil { // a caller that sends none wants no reports
		waited := now.Sub(began)
		r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: waited.Seconds(),
			Message: fmt.Sprintf("%s is %s, after %d s", g.ID, g.Status, int(waited.Seconds()))})
	}
	return now
}
