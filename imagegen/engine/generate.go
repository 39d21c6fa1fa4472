package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine/internal/schedule"
	"github.com/imagegend/imagegend/imagegen/engine/internal/uploads"
)

// Now returns the time by which the engine ends what reaches its age, see Config.Now.
func (e *Engine) Now() time.Time { return e.cfg.Now() }

// Age returns how long ago by Now a time was, at least 0. With the clock of an
// [imagegen.Timekeeper] it is that one's Age.
func (e *Engine) Age(at time.Time) time.Duration { return e.cfg.age(at) }

// now is the time for a record. It has the precision of the JSON interface, so that what
// is stored is what callers see.
func (e *Engine) now() time.Time { return e.cfg.Now().UTC().Truncate(time.Millisecond) }

// Generate implements [imagegen.Service].
func (s *Session) Generate(ctx context.Context, q imagegen.GenerateRequest) (imagegen.Result, error) {
	s, err := s.forPerson(ctx, q.EndUser)
	if err != nil {
		discard(q)
		return imagegen.Result{}, err
	}
	accept := (*call).wait
	if q.Async {
		accept = (*call).queue
	} else if s.engine.cfg.Work == WorkNone {
		discard(q)
		return imagegen.Result{}, imagegen.InvalidField("async",
			"this service takes asynchronous requests alone: set async")
	}
	result, err := s.generate(ctx, q, accept)
	result.Balance = s.seen(result.Balance)
	s.observeReplay(ctx, result, err)
	return result, err
}

// discard removes the staged files of a request that is refused.
func discard(q imagegen.GenerateRequest) {
	imagegen.Discard(q.References...)
	imagegen.Discard(q.Mask)
}

// observeReplay tells Config.Observer when a call was answered with another call's
// result.
func (s *Session) observeReplay(ctx context.Context, result imagegen.Result, err error) {
	if e, ok := errors.AsType[*imagegen.Error](err); ok {
		result = imagegen.Result{Generation: imagegen.Generation{ID: e.Generation}, Replayed: e.Replayed}
	}
	if result.Replayed {
		result.Generation.Prompt = ""
		s.engine.notifyObserver(ctx, imagegen.Event{Kind: imagegen.EventReplayed, User: s.user,
			Generation: result.Generation})
	}
}

// generate plans the request before it stores any reference, so that an invalid one costs
// nothing. The references are taken over in any case: an accepted call keeps them, any other
// removes them. accept comes last.
func (s *Session) generate(ctx context.Context, q imagegen.GenerateRequest,
	accept func(*call, context.Context) (imagegen.Result, error)) (imagegen.Result, error) {
	e := s.engine
	if q.Async { // so that SetModels sees it; synchronous work holds its provider
		defer e.catalogs.trackCall(q.Model)()
	}
	user, err := s.account(ctx)
	if err != nil {
		discard(q)
		return imagegen.Result{}, err
	}
	r, m, err := e.plan(s.user, s.viewOf(user), q)
	if err != nil {
		return s.refuse(ctx, user, r, q, err)
	}
	c, err := s.call(ctx, user, r, m, q)
	if err != nil {
		return imagegen.Result{}, err
	}
	defer c.discard()
	return c.run(ctx, accept)
}

// call is one Generate on its way to acceptance.
type call struct {
	engine     *Engine
	session    *Session
	request    imagegen.GenerateRequest
	record     imagegen.Record
	model      catalogEntry
	handedOver bool          // the references belong to the record
	slot       schedule.Slot // of synchronous work
	shown      int           // how many of its images OnProgress has reported; only the goroutine of Generate uses it
}

// call takes over the references of a request of the session's user and completes its record.
func (s *Session) call(ctx context.Context, user imagegen.User, r imagegen.Record, m catalogEntry,
	q imagegen.GenerateRequest) (_ *call, err error) {
	e := s.engine
	if r.References, err = s.engine.uploads.Take(ctx, s.Payer(), q.References, q.Mask); err != nil {
		return nil, err
	}
	r.KeyID, r.CreatedAt, r.Payer = s.key, e.now(), user.Sponsor
	r.ID = e.ids.Generation(r.CreatedAt)
	r.Fingerprint = fingerprint(r)
	if e.cfg.Repeats.JoinWindow >= 0 {
		r.JoinKey = joinKey(r, q)
	}
	return &call{engine: e, session: s, request: q, record: r, model: m}, nil
}

// discard removes the references of a call that was not accepted.
func (c *call) discard() {
	if !c.handedOver {
		c.engine.uploads.RemoveFiles(c.record.References)
	}
}

// hasAllReferences reports whether every reference was stored. Those of a user who cannot
// pay were only hashed, see Session.StageReference.
func (c *call) hasAllReferences() bool {
	return !slices.ContainsFunc(c.record.References, func(f imagegen.ReferenceFile) bool { return f.ID == "" })
}

// run makes the checks that follow validation, in this order: the key again, idempotency,
// refusals, how many generations of the key run, draining, price, admission, capacity, credits.
// Idempotency comes early, since a repeated call must get its answer whatever has changed
// since the first one.
func (c *call) run(ctx context.Context, accept func(*call, context.Context) (imagegen.Result, error)) (imagegen.Result,
	error) {
	e := c.engine
	if err := c.session.usable(ctx); err != nil {
		return imagegen.Result{}, err
	}
	result, found, release, err := c.earlierAnswer(ctx)
	defer release()
	if found || err != nil {
		return result, err
	}
	if err := e.refusals.checkUser(c.record.User, time.Now()); err != nil {
		return imagegen.Result{}, err
	}
	if err := c.session.busy(ctx, c.record.Account()); err != nil {
		return imagegen.Result{}, err
	}
	if err := e.life.admitWork(); err != nil {
		return imagegen.Result{}, imagegen.Overloaded(5*time.Second, err)
	}
	defer e.life.workEnded()
	if err := e.breaker.err(); err != nil {
		return imagegen.Result{}, imagegen.Overloaded(5*time.Second, err)
	}
	if err := c.priceCall(ctx); err != nil {
		return imagegen.Result{}, err
	}
	if !c.hasAllReferences() {
		return imagegen.Result{}, c.tooFewCredits(ctx, imagegen.ErrInsufficientCredits)
	}
	if err := e.admit(ctx, c.record, c.request); err != nil {
		return imagegen.Result{}, err
	}
	if err := c.turnUpright(ctx); err != nil {
		return imagegen.Result{}, err
	}
	e.noteUser(ctx, c.record.Account())
	return accept(c, ctx)
}

// earlierAnswer answers a call that repeats another one, by its idempotency key or by
// joining. If found is false, the call is new; release must be called in any case.
func (c *call) earlierAnswer(ctx context.Context) (result imagegen.Result, found bool, release func(), err error) {
	if c.record.IdempotencyKey != "" {
		return c.repetition(ctx)
	}
	result, found, err = c.join(ctx)
	return result, found, func() {}, err
}

// queue accepts asynchronous work.
func (c *call) queue(ctx context.Context) (imagegen.Result, error) {
	leave, err := c.keep(ctx)
	if err != nil {
		return imagegen.Result{}, err
	}
	defer leave()
	r, err := c.acceptWithLease(ctx)
	if err != nil {
		return c.refused(ctx, err)
	}
	return imagegen.Result{Generation: accepted(r).Generation()}, nil
}

// keep takes a place in the queue until leave, and makes the references durable, before the charge: a crash then leaves
// files that the next start removes, never charged work without its files.
func (c *call) keep(ctx context.Context) (leave func(), err error) {
	e := c.engine
	if leave, err = e.joinQueue(ctx, c.record.Account()); err != nil {
		return nil, err
	}
	if ids := referenceIDs(c.record.References); len(ids) > 0 {
		if err := e.spool.Keep(ctx, ids...); err != nil {
			leave()
			return nil, uploads.NotKept(err)
		}
	}
	return leave, nil
}

// acceptWithLease is accept for asynchronous work. It holds the lease meanwhile, because a charge may take longer than
// a lease lasts, and gives it up even if the ledger panics.
func (c *call) acceptWithLease(ctx context.Context) (imagegen.Record, error) {
	leases := c.engine.leases
	leases.hold(c.record.Fence(), func(error) {})
	defer leases.drop(c.record.Fence())
	return c.accept(ctx)
}

// wait accepts synchronous work, starts it on a goroutine of its own and waits for its end.
// Attempts.Timeout covers the wait for a slot too.
func (c *call) wait(ctx context.Context) (imagegen.Result, error) {
	e := c.engine
	began := time.Now() // not e.now: elapsed time, whatever happens to the wall clock
	if err := c.waitForSlot(ctx); err != nil {
		return imagegen.Result{}, err
	}
	c.record.Attempt = 1
	r, err := c.acceptWithSlot(ctx)
	if err != nil {
		return c.refused(ctx, err)
	}
	// At most N-1 calls of shown, each with an image more, and one of answer: the attempt never
	// blocks on a caller who has left.
	heard := make(chan progress, r.N)
	a := &attempt{engine: e, slot: c.slot, record: r, model: c.model,
		shown:  func(r imagegen.Record) { heard <- progress{record: r} },
		answer: func(r imagegen.Record, err error) { heard <- progress{r, err, true} }}
	e.life.beginAnother()
	e.waiting.Accepted(r)
	// Whether the caller stays or goes, the work and its refund go on.
	go a.run(context.WithoutCancel(ctx), e.cfg.Attempts.Timeout-time.Since(began))
	return c.follow(ctx, r.ID, heard)
}

// acceptWithSlot is accept for synchronous work. It releases the slot unless the work was
// accepted, even if the ledger panics.
func (c *call) acceptWithSlot(ctx context.Context) (r imagegen.Record, err error) {
	e, accepted := c.engine, false
	e.leases.hold(c.record.Fence(), func(error) {}) // from before it begins: see Engine.abandoned
	defer func() {
		if !accepted {
			e.leases.drop(c.record.Fence())
			e.slots.Release(c.slot, schedule.Finding{})
		}
	}()
	r, err = c.accept(ctx)
	accepted = err == nil
	return r, err
}

// waitForSlot waits for a slot. If the engine begins to drain meanwhile, or images can no longer be
// stored, it returns ErrOverloaded; nothing has been charged by then.
func (c *call) waitForSlot(ctx context.Context) (err error) {
	e, began := c.engine, time.Now()
	defer func() { e.observeWait(ctx, c.record, time.Since(began), err) }()
	held, free := e.slots.TryAcquire(c.record.Account(), c.record.Model)
	if c.slot = held; !free {
		err = c.waitTurn(ctx)
	}
	stopping := cmp.Or(e.life.accepting(), e.breaker.err())
	switch {
	case stopping == nil || ctx.Err() != nil:
		return err
	case err == nil:
		e.slots.Release(c.slot, schedule.Finding{})
	}
	return imagegen.Overloaded(5*time.Second, stopping)
}

// waitTurn waits until it is the user's turn. It also returns when the engine drains; the
// caller tells that from the other errors by asking the lifecycle.
func (c *call) waitTurn(ctx context.Context) (err error) {
	e := c.engine
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.life.loop, cancel)()
	c.slot, err = e.slots.Acquire(ctx, c.record.Account(), c.record.Model, e.cfg.Limits.SlotWait)
	return err
}

// accept makes the record and the charge durable. On success, and when the outcome is
// unknown, the references belong to the record.
func (c *call) accept(ctx context.Context) (imagegen.Record, error) {
	if err := c.session.chargeable(ctx); err != nil {
		return imagegen.Record{}, err
	}
	if err := c.session.join(ctx, c.record.Charge().Credits); err != nil {
		return imagegen.Record{}, err
	}
	within, charging := c.engine.beginStep(ctx, imagegen.EventCharged, c.record)
	r, err := c.engine.charge(within, c.record)
	charging.report(0, err)
	c.engine.noteLimit(c.record, err)
	// After an unknown outcome the references may be needed: recovery or the next start removes them.
	c.handedOver = err == nil || !imagegen.Definite(err)
	if c.handedOver {
		c.engine.uploads.BelongTo(c.record.ID, c.record.References)
	}
	if err == nil {
		c.engine.observe(ctx, imagegen.EventAccepted, r, r.Charge().Credits)
	}
	return r, err
}

// refused turns an error of accept into the answer. A IdempotencyKeyTakenError means that an equal call
// was accepted between earlierAnswer and the commit, by another engine on the store if both
// are synchronous: its answer is this one's too, which waits for it as any repetition does.
func (c *call) refused(ctx context.Context, err error) (imagegen.Result, error) {
	if r, ok := errors.AsType[*imagegen.IdempotencyKeyTakenError](err); ok {
		if result, found, err := c.reserved(ctx); found || err != nil {
			return result, err
		}
		return c.replay(r.Record)
	}
	if errors.Is(err, imagegen.ErrInsufficientCredits) {
		return imagegen.Result{}, c.tooFewCredits(ctx, err)
	}
	if imagegen.Definite(err) {
		return imagegen.Result{}, imagegen.ToUserError(err)
	}
	return imagegen.Result{}, unknownOutcome(c.record.ID, err)
}

// tooFewCredits says what the request costs and how many credits there are, unless that
// has changed meanwhile. An error that names a limit of the key is returned unchanged.
func (c *call) tooFewCredits(ctx context.Context, err error) error {
	if named, ok := errors.AsType[*imagegen.Error](err); ok &&
		named.Message != imagegen.ErrInsufficientCredits.Message {
		return named
	}
	cost := c.record.Charge().Credits
	b, failed := c.session.Balance(ctx)
	if failed != nil || b.Credits >= cost {
		return imagegen.ToUserError(err)
	}
	return &imagegen.Error{Code: imagegen.CodeInsufficientCredits,
		Message: fmt.Sprintf("the account has too few credits for this request, which costs %d; it has %d", cost,
			b.Credits)}
}

// answer is what the caller gets for a generation that has ended.
func answer(r imagegen.Record) (imagegen.Result, error) {
	g := r.Generation()
	if g.Failure != nil {
		return imagegen.Result{}, g.Failure
	}
	return imagegen.Result{Generation: g, Balance: r.Balance}, nil
}

// unknownOutcome does not wrap err: one refused step says nothing about the whole.
func unknownOutcome(id imagegen.GenerationID, err error) error {
	return &imagegen.Error{Code: imagegen.CodeInternal,
		Message: "outcome unknown; ask again with the same Idempotency-Key", Generation: id,
		Err: errors.New(err.Error())}
}
