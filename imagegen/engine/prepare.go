package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// preparedFor is how long what was prepared can be accepted.
const preparedFor = time.Hour

// Prepared is a request that [Session.Prepare] has checked. It is for its session's user and for this process.
type Prepared struct {
	session  *Session
	call     *call           // nil: the request repeats an earlier one
	repeated imagegen.Result // the answer of that one
	until    time.Time
}

// Prepare does everything for an asynchronous request that needs no lock, before the host program begins a transaction:
// it validates it, prices it, calls Config.Admit, looks at the length of the queue, and keeps its references for an
// hour. Async counts as set. Nothing is charged: [Session.GenerateTx] does that, any number of times with the same
// result, so that the host can repeat its transaction. References of what was never accepted are removed after the
// hour, and count for their user until then.
//
// Its errors are those of Generate. [errors.ErrUnsupported]: the Store is no [imagegen.HostTxStore], or the Ledger
// shares no transactions with it.
func (s *Session) Prepare(ctx context.Context, q imagegen.GenerateRequest) (*Prepared, error) {
	if s.engine.host == nil {
		discard(q)
		return nil, fmt.Errorf("imagegen: the Store cannot write in a transaction of the host's: %w", errors.ErrUnsupported)
	}
	s, err := s.forPerson(ctx, q.EndUser)
	if err != nil {
		discard(q)
		return nil, err
	}
	q.Async = true
	p := &Prepared{session: s, until: time.Now().Add(preparedFor)}
	p.repeated, err = s.generate(ctx, q, func(c *call, ctx context.Context) (imagegen.Result, error) {
		p.call = c
		return imagegen.Result{}, c.prepare(ctx)
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// prepare makes everything durable that the transaction of the host's will rely on: the references, and the person who
// asks for the first time, since a member is made in a transaction of its own.
func (c *call) prepare(ctx context.Context) error {
	leave, err := c.keep(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if err := c.session.join(ctx, c.record.Charge().Credits); err != nil {
		return imagegen.ToUserError(err)
	}
	c.record.Hosted, c.handedOver = true, true
	c.engine.uploads.BelongTo(c.record.ID, c.record.References)
	return nil
}

// GenerateTx accepts a prepared request of the session's user in a transaction of the host program's, which the Store's
// package makes an [imagegen.HostTx]: the charge and the queued generation are true with the host's commit, and gone
// with its rollback. It locks the account of who pays until then, uses no other connection, sets nothing and leaves no
// savepoint. A refusal writes nothing, and the transaction can go on. The host commits within the hour after: of what
// is committed later, the references are gone. If it accepts for several users in one transaction, it goes by the order
// of their payers' identifiers; otherwise there may be deadlocks.
//
// If an earlier transaction with p was committed, the result is its generation, whatever has changed since.
//
// ErrInvalidRequest: it was prepared more than an hour ago, or its model is gone; prepare it again. The other refusals
// are those of Generate, but nobody asks Caller.Still: the host knows in whose name it calls. Any other error comes as
// the database's driver returned it, such as a failed serialization or a deadlock (40001, 40P01): roll back, and repeat
// the transaction.
//
// Engines find the work when they next look at the queue, and this one at once with Wake. Config.Observer hears of the
// acceptance when the first attempt begins.
func (s *Session) GenerateTx(ctx context.Context, tx imagegen.HostTx, p *Prepared) (imagegen.Result, error) {
	if p.session.engine != s.engine || p.session.Payer() != s.Payer() {
		return imagegen.Result{}, imagegen.Invalid("the request was prepared for another user, or by another engine")
	}
	result, err := p.repeated, error(nil)
	if p.call != nil {
		result, err = s.generateTx(ctx, tx, p)
	}
	s.observeReplay(ctx, result, err)
	return result, err
}

func (s *Session) generateTx(ctx context.Context, tx imagegen.HostTx, p *Prepared) (imagegen.Result, error) {
	c, e := p.call, s.engine
	if err := e.life.admitWork(); err != nil {
		return imagegen.Result{}, imagegen.Overloaded(5*time.Second, err)
	}
	defer e.life.workEnded()
	r, err := e.host.CreateChargedIn(ctx, tx, c.record, p.outdated())
	e.noteLimit(c.record, err)
	if taken, ok := errors.AsType[*imagegen.IdempotencyKeyTakenError](err); ok {
		return c.replay(taken.Record)
	}
	if imagegen.Definite(err) {
		return imagegen.Result{}, imagegen.ToUserError(err)
	}
	if err != nil {
		return imagegen.Result{}, err
	}
	return imagegen.Result{Generation: accepted(r).Generation()}, nil
}

// outdated returns why the request cannot be accepted any more; nil if it can. What was accepted before stays so.
func (p *Prepared) outdated() error {
	c, e := p.call, p.session.engine
	if m, ok := e.catalogs.current.Load().entries[c.record.Model]; !ok || m.Retired {
		return imagegen.InvalidField("model", "model %.40q is no longer offered", c.record.Model)
	}
	if !time.Now().Before(p.until) || !e.uploads.BelongTo(c.record.ID, c.record.References) {
		return imagegen.Invalid("the request was prepared more than an hour ago; prepare it again")
	}
	return nil
}

// observeHosted tells Config.Observer of a generation that a transaction of the host's has accepted, which nobody could
// tell before: the transaction was the host's to commit. r is the record at the end of its wait in the queue.
func (e *Engine) observeHosted(ctx context.Context, r imagegen.Record) {
	if r.Hosted {
		e.observe(ctx, imagegen.EventAccepted, r, r.Charge().Credits)
	}
}

// Wake has the engine look for queued work at once. Call it after the commit of a transaction with
// [Session.GenerateTx]; without it, the work is found a little later.
func (s *Session) Wake() {
	select {
	case s.engine.hints <- struct{}{}:
	default: // it will look anyway
	}
}
