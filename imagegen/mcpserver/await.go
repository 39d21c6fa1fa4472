package mcpserver

import (
	"context"
	"fmt"
	"time"

	"github.com/imagegend/imagegend/imagegen"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	pollSoon  = 100 * time.Millisecond // after which a generation is looked at first
	pollLate  = 2 * time.Second        // and at the latest, from then on
	heartbeat = 5 * time.Second        // between two notifications of progress
)

// await waits for the end of a generation, as long as patience lasts, and tells of it meanwhile.
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

// progress tells who asked for it how far a generation has come. That it cannot be told is no failure.
func (t *tools) progress(ctx context.Context, r *mcp.CallToolRequest, g imagegen.Generation, began time.Time) time.Time {
	now := time.Now()
	if token := r.Params.GetProgressToken(); token != nil {
		waited := now.Sub(began)
		r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: waited.Seconds(),
			Message: fmt.Sprintf("%s is %s, after %d s", g.ID, g.Status, int(waited.Seconds()))})
	}
	return now
}
