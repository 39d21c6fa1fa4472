package engine

import (
	"context"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// observe tells Config.Observer the result of a generation.
func (e *Engine) observe(ctx context.Context, kind imagegen.EventKind, r imagegen.Record, credits imagegen.Credits) {
	if e.cfg.Observer == nil {
		return
	}
	o := e.event(kind, r)
	o.Failure, o.Credits, o.Duration = r.Failure, credits, e.Age(r.CreatedAt)
	e.notifyObserver(ctx, o)
}

// observeWait tells Config.Observer how long a generation waited for a slot.
func (e *Engine) observeWait(ctx context.Context, r imagegen.Record, waited time.Duration, err error) {
	if e.cfg.Observer == nil {
		return
	}
	o := e.event(imagegen.EventWaited, r)
	o.Duration, o.Err = waited, err
	e.notifyObserver(ctx, o)
}

// lost logs and tells Config.Observer that nobody gets so many images that were made, or may have
// been.
func (e *Engine) lost(ctx context.Context, r imagegen.Record, images int, why error) {
	e.cfg.Log.ErrorContext(ctx, "images are lost", "generation", r.ID, "attempt", r.Attempt, "images", images, "error",
		brief(why))
	o := e.event(imagegen.EventLost, r)
	o.Count, o.Err = images, why
	e.notifyObserver(ctx, o)
}

// event starts an event about a generation. It never contains the prompt.
func (e *Engine) event(kind imagegen.EventKind, r imagegen.Record) imagegen.Event {
	g := r.Generation()
	g.Prompt = ""
	return imagegen.Event{Kind: kind, User: r.User, Generation: g, Provider: e.catalogs.current.Load().
		providerNames[r.Model]}
}

// notifyObserver calls Config.Observer, if there is one.
func (e *Engine) notifyObserver(ctx context.Context, o imagegen.Event) {
	if e.cfg.Observer == nil {
		return
	}
	defer e.recoverObserver(ctx, o)
	e.cfg.Observer.Observe(ctx, o)
}

// recoverObserver logs a panic of Config.Observer: what it observes must go on.
func (e *Engine) recoverObserver(ctx context.Context, o imagegen.Event) {
	if p := recover(); p != nil {
		e.cfg.Log.ErrorContext(ctx, "Config.Observer panicked", "generation", o.Generation.ID, "event", o.Kind, "panic",
			p)
	}
}

// step is something that is done for a generation, as Config.Observer sees it. The zero
// value is a step that nobody observes: beginStep returns it without an observer, and report then
// does nothing, so that an engine nobody observes pays nothing.
type step struct {
	engine *Engine
	ctx    context.Context
	event  imagegen.Event
	began  time.Time
}

// beginStep tells Config.Observer that a step begins, and returns the context for everything
// that is done in it.
func (e *Engine) beginStep(ctx context.Context, kind imagegen.EventKind, r imagegen.Record) (context.Context, step) {
	if e.cfg.Observer == nil {
		return ctx, step{}
	}
	s := step{engine: e, event: e.event(kind, r), began: time.Now()}
	s.ctx = s.announce(ctx)
	return s.ctx, s
}

// announce returns ctx if the observer panics or returns nil.
func (s step) announce(ctx context.Context) (within context.Context) {
	within = ctx
	defer s.engine.recoverObserver(ctx, s.event)
	if of := s.engine.cfg.Observer.Begin(ctx, s.event); of != nil {
		within = of
	}
	return within
}

// request is what the attempt asks of the provider. A router reports through MemberDone which
// members it asked.
func (a *attempt) request(ctx context.Context) imagegen.ProviderRequest {
	e := a.engine
	q := e.providerRequest(a.record, a.model)
	q.SaveJob, q.Used = a.noteJob(q.SaveJob), a.consumed.used
	if e.cfg.Observer == nil {
		return q
	}
	q.MemberDone = func(member string, took time.Duration, images int, err error) {
		a.asked.Add(1)
		o := e.event(imagegen.EventAsked, a.record)
		o.Member, o.Duration, o.Count, o.Err = member, took, images, err
		e.notifyObserver(ctx, o)
	}
	return q
}

// noteJob notes whether a job is saved.
func (a *attempt) noteJob(save func(context.Context, []byte) error) func(context.Context, []byte) error {
	a.jobSaved.Store(len(a.record.Job) > 0)
	return func(ctx context.Context, job []byte) error {
		err := save(ctx, job)
		if err == nil {
			a.jobSaved.Store(a.record.Async && len(job) > 0)
		}
		return err
	}
}

// attempted tells Config.Observer how the attempt ended.
func (a *attempt) attempted(images int, cost *imagegen.AttemptCost, err error) {
	a.step.event.Members, a.step.event.Cost = int(a.asked.Load()), cost
	a.step.report(images, err)
}

// report tells Config.Observer how the step ended.
func (s step) report(count int, err error) {
	if s.engine == nil {
		return
	}
	s.event.Count, s.event.Err, s.event.Duration = count, err, time.Since(s.began)
	s.engine.notifyObserver(s.ctx, s.event)
}
