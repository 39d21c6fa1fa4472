package imagegen

import "context"

// observe tells Config.Observe of a generation.
func (e *Engine) observe(ctx context.Context, kind EventKind, r Record) {
	defer func() {
		if p := recover(); p != nil { // what it watches has happened all the same
			e.cfg.Log.ErrorContext(ctx, "Config.Observe panicked", "generation", r.ID, "event", kind, "panic", p)
		}
	}()
	g := r.Generation()
	g.Prompt = ""
	e.cfg.Observe(ctx, Event{Kind: kind, User: r.User, Generation: g, Failure: r.Failure,
		Provider: e.offers.now.Load().makers[r.Model], Duration: e.cfg.Now().Sub(r.CreatedAt)})
}
