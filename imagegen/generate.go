package imagegen

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// now is the time to put into a record: what the JSON interface can tell, and no more.
func (e *Engine) now() time.Time { return e.cfg.Now().UTC().Truncate(time.Millisecond) }

// Generate implements [Service].
func (s *Session) Generate(ctx context.Context, q GenerateRequest) (Result, error) {
	e := s.engine
	if q.Async { // synchronous work holds its provider
		defer e.offers.enter(q.Model)()
	}
	r, m, err := e.plan(s.user, q)
	if err != nil {
		return s.refuse(ctx, r, q, err)
	}
	c, err := s.call(ctx, r, m, q)
	if err != nil {
		return Result{}, err
	}
	defer c.discard()
	return c.run(ctx)
}

// call is one Generate on its way to acceptance.
type call struct {
	engine  *Engine
	session *Session
	request GenerateRequest
	record  Record
	offer   offer
	handed  bool // the references belong to the record
	slot    slot // of synchronous work
}

// call takes over the references of a request.
func (s *Session) call(ctx context.Context, r Record, m offer, q GenerateRequest) (_ *call, err error) {
	e := s.engine
	if r.References, err = s.take(ctx, q.References); err != nil {
		return nil, err
	}
	r.KeyID, r.CreatedAt = s.key, e.now()
	r.ID = e.ids.Generation(r.CreatedAt)
	r.Fingerprint = fingerprint(r)
	if e.cfg.JoinWindow >= 0 {
		r.JoinKey = joinKey(r, q.Joining)
	}
	return &call{engine: e, session: s, request: q, record: r, offer: m}, nil
}

// discard removes the references of a call that was not accepted.
func (c *call) discard() {
	if !c.handed {
		c.engine.removeReferences(c.record.References)
	}
}

// kept reports whether there are all references that came: see Session.Stage.
func (c *call) kept() bool {
	return !slices.ContainsFunc(c.record.References, func(f ReferenceFile) bool { return f.ID == "" })
}

// run is the order of checks behind validation: the key again, idempotency, refusals, draining, admission, capacity,
// credits.
func (c *call) run(ctx context.Context) (Result, error) {
	e := c.engine
	if err := c.session.usable(ctx); err != nil {
		return Result{}, err
	}
	result, found, release, err := c.former(ctx)
	defer release()
	if found || err != nil {
		return result, err
	}
	if err := e.refusals.check(c.record.User, e.cfg.Now()); err != nil {
		return Result{}, err
	}
	if err := e.life.enter(); err != nil {
		return Result{}, Overloaded(5*time.Second, err)
	}
	defer e.life.leave()
	if !c.kept() {
		return Result{}, c.tooFewCredits(ctx, ErrInsufficientCredits)
	}
	if err := e.admit(ctx, c.record, c.request); err != nil {
		return Result{}, err
	}
	e.meet(ctx, c.record.User)
	if c.record.Async {
		return c.queue(ctx)
	}
	return c.wait(ctx)
}

// former answers a call that repeats another one: under its idempotency key, or by joining it.
func (c *call) former(ctx context.Context) (result Result, found bool, release func(), err error) {
	if c.record.IdempotencyKey != "" {
		return c.repetition(ctx)
	}
	result, found, err = c.join(ctx)
	return result, found, func() {}, err
}

// queue accepts asynchronous work.
func (c *call) queue(ctx context.Context) (Result, error) {
	e := c.engine
	leave, err := e.joinQueue(ctx, c.record.User)
	if err != nil {
		return Result{}, err
	}
	defer leave()
	if ids := referenceIDs(c.record.References); len(ids) > 0 {
		if err := e.spool.Keep(ctx, ids...); err != nil {
			return Result{}, ToUserError(err)
		}
	}
	e.leases.hold(c.record.Fence(), func(error) {}) // a charge may take longer than a lease lasts
	r, err := c.accept(ctx)
	e.leases.drop(c.record.Fence())
	if err != nil {
		return c.refused(ctx, err)
	}
	return Result{Generation: accepted(r).Generation()}, nil
}

// wait accepts synchronous work, has it done and waits for its end.
func (c *call) wait(ctx context.Context) (Result, error) {
	e := c.engine
	began := time.Now() // what passes, whatever becomes of the clock
	if err := c.waitForSlot(ctx); err != nil {
		return Result{}, err
	}
	c.record.Attempt = 1
	r, err := c.acceptWithSlot(ctx)
	if err != nil {
		return c.refused(ctx, err)
	}
	type end struct {
		record Record
		err    error
	}
	ended := make(chan end, 1)
	a := &attempt{engine: e, slot: c.slot, record: r, offer: c.offer, answer: func(r Record, err error) { ended <- end{r, err} }}
	e.life.enterMore()
	e.open.begin(r)
	// Whether the caller stays or goes, the work and its refund go on.
	go a.run(context.WithoutCancel(ctx), e.cfg.AttemptTimeout-time.Since(began))
	select {
	case <-ctx.Done():
		e.hangUp(r.ID)
		return Result{}, ctx.Err()
	case end := <-ended:
		if end.err != nil {
			e.hangUp(r.ID) // what recovery makes of it is its caller's, who asks again
			return Result{}, unknownOutcome(r.ID, end.err)
		}
		return answer(end.record)
	}
}

// acceptWithSlot is accept of synchronous work. The slot is free again unless it is accepted, also when the
// ledger panics.
func (c *call) acceptWithSlot(ctx context.Context) (r Record, err error) {
	e, accepted := c.engine, false
	e.leases.hold(c.record.Fence(), func(error) {}) // from before it begins: see Engine.abandoned
	defer func() {
		if !accepted {
			e.leases.drop(c.record.Fence())
			e.slots.release(c.slot, finding{})
		}
	}()
	r, err = c.accept(ctx)
	accepted = err == nil
	return r, err
}

// waitForSlot waits for a slot. Who still waits when a drain begins is told so, before any charge.
func (c *call) waitForSlot(ctx context.Context) error {
	e := c.engine
	var err error
	held, free := e.slots.tryAcquire(c.record.User, c.record.Model)
	if c.slot = held; !free {
		err = c.turn(ctx)
	}
	stopping := e.life.taking()
	switch {
	case stopping == nil || ctx.Err() != nil:
		return err
	case err == nil:
		e.slots.release(c.slot, finding{})
	}
	return Overloaded(5*time.Second, stopping)
}

// turn waits until it is the user's turn, or a drain begins.
func (c *call) turn(ctx context.Context) (err error) {
	e := c.engine
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(e.life.loop, cancel)()
	c.slot, err = e.slots.acquire(ctx, c.record.User, c.record.Model, e.cfg.SlotWait)
	return err
}

// accept makes record and charge durable.
func (c *call) accept(ctx context.Context) (Record, error) {
	r, err := c.engine.charge(ctx, c.record)
	// After an unknown outcome the references may be needed: recovery or the next start removes them.
	c.handed = err == nil || !Definite(err)
	if err == nil {
		c.engine.observe(ctx, EventAccepted, r)
	}
	return r, err
}

// refused turns an error of accept into the answer.
func (c *call) refused(ctx context.Context, err error) (Result, error) {
	if r, ok := errors.AsType[*ReservedError](err); ok {
		return c.replay(r.Record)
	}
	if errors.Is(err, ErrInsufficientCredits) {
		return Result{}, c.tooFewCredits(ctx, err)
	}
	if Definite(err) {
		return Result{}, ToUserError(err)
	}
	return Result{}, unknownOutcome(c.record.ID, err)
}

// tooFewCredits tells what the request costs and, unless that has changed meanwhile, what is there.
func (c *call) tooFewCredits(ctx context.Context, err error) error {
	cost := c.record.Charge().Credits
	b, failed := c.engine.balance(ctx, c.record.User)
	if failed != nil || b.Credits >= cost {
		return ToUserError(err)
	}
	return &Error{Code: CodeInsufficientCredits,
		Message: fmt.Sprintf("the account has too few credits for this request, which costs %d; it has %d", cost, b.Credits)}
}

// answer is what the caller is told of a generation that has ended.
func answer(r Record) (Result, error) {
	g := r.Generation()
	if g.Failure != nil {
		return Result{}, g.Failure
	}
	return Result{Generation: g, Balance: r.Balance}, nil
}

// unknownOutcome hides what err wraps: a refusal of one step is none of the whole.
func unknownOutcome(id GenerationID, err error) error {
	return &Error{Code: CodeInternal, Message: "outcome unknown; ask again with the same Idempotency-Key", Generation: id, Err: errors.New(err.Error())}
}
