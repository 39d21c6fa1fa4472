package engine

import (
	"context"

	"github.com/imagegend/imagegend/imagegen"
)

// observe tells Config.Observe of a generation.
func (e *Engine) observe(ctx context.Context, kind imagegen.EventKind, r imagegen.Record) {
	defer func() {
		if p := recover(); p != nil { // what it watches has happened all the same
			e.cfg.Log.ErrorContext(ctx, "Config.Observe panicked", "generation", r.ID, "event", kind, "panic", p)
		}
	}()
	g := r.Generation()
	g.Prompt = ""
	e.cfg.Observe(ctx, imagegen.Event{Kind: kind, User: r.User, Generation: g, Failure: r.Failure,
		Provider: e.offers.now.Load().makers[r.Model], Duration: e.cfg.Now().Sub(r.CreatedAt)})
}
