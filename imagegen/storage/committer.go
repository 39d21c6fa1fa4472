package storage

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// maxOps and maxBytes bound one commit, and so how long those wait who come next. maxBytes counts keys and
// values; the operation that passes it is still part of the commit.
const (
	maxOps   = 1024
	maxBytes = 4 << 20
)

// op is an operation on its way through the committer. The side that moves its state from waiting decides what
// becomes of it: the committer, which then always answers, or the caller, who has then given up.
type op struct {
	run     func(kv.Tx) error
	refusal error        // of run, before it wrote anything; only the committer uses it
	done    chan error   // gets exactly one answer once the op is taken; buffered, so the committer never blocks
	state   atomic.Int32 // one of the states below
}

// The states of an op.
const (
	waiting int32 = iota
	taken         // by the committer, which answers
	givenUp       // by its caller
)

// Update implements kv.DB. Until the committer takes the operation, ctx can cancel it;
// after that Update waits for its result, so that a caller whose context ends never has
// to guess. Its errors before that point are all definite.
func (d *database) Update(ctx context.Context, run func(kv.Tx) error) error {
	if err := kv.NotBegun(ctx); err != nil {
		return err
	}
	o := &op{run: run, done: make(chan error, 1)}
	select {
	case d.queue <- o:
	case <-ctx.Done():
		return kv.NotBegun(ctx)
	case <-d.ended:
		return notApplied(errClosed)
	}
	var why error // what to return if the committer has not taken the operation
	select {
	case err := <-o.done:
		return err
	case <-ctx.Done():
		why = kv.NotBegun(ctx)
	case <-d.ended:
		why = notApplied(errClosed)
	}
	if o.state.CompareAndSwap(waiting, givenUp) {
		return why
	}
	return <-o.done // the committer has taken it and will answer
}

// runCommitter is the committer. It takes an operation and everything else that waits by then,
// commits them together and answers. It waits for no timer: under load, a batch is what
// arrived during the previous commit.
func (d *database) runCommitter() {
	defer close(d.ended)
	for {
		select {
		case o := <-d.queue:
			runtime.Gosched() // callers that were just answered can queue their next write for this batch
			for ops := d.drain(o); len(ops) > 0; {
				ops = ops[d.transact(ops):]
			}
		case <-d.quit:
			return
		}
	}
}

// drain takes the first operation and those behind it, except those whose callers have
// given up.
func (d *database) drain(first *op) (ops []*op) {
	for o := first; ; {
		if o.state.CompareAndSwap(waiting, taken) {
			ops = append(ops, o)
		}
		if len(ops) == maxOps {
			return ops
		}
		select {
		case o = <-d.queue:
		default:
			return ops
		}
	}
}

// transact runs operations in one transaction, as many as fit, answers those that it ran,
// and returns their number, which is at least 1. An operation that fails as the first of
// its transaction is itself at fault. If one fails later, the operations before it run
// again without it, and it comes first in the next transaction: so an operation may run
// several times, and only its last run counts.
func (d *database) transact(ops []*op) (answered int) {
	if d.Err() != nil {
		return answer(ops, notApplied(d.fault))
	}
	bolt, err := d.bolt.Begin(true)
	if err != nil {
		return answer(ops, notApplied(fmt.Errorf("storage: no transaction can be begun: %v", err)))
	}
	t := &tx{bolt: bolt}
	n := 0
	for ; n < len(ops) && t.written < maxBytes; n++ {
		if err = t.run(ops[n]); err != nil {
			break
		}
	}
	switch {
	case err != nil:
		_ = bolt.Rollback()
		if n == 0 {
			return answer(ops[:1], d.atFault(err))
		}
		return d.transact(ops[:n])
	case t.written == 0: // only refusals and repetitions: there is nothing to commit
		_ = bolt.Rollback()
		t.committed()
		return acknowledge(ops[:n])
	}
	return d.conclude(t, ops[:n])
}

// run runs one operation. A definite error before any write is that operation's answer
// and disturbs no other; the callbacks that it registered are dropped. run returns every
// other error, which rolls the transaction back; so does a violation, which is a bug and
// must be logged.
func (t *tx) run(o *op) error {
	written, callbacks := t.written, len(t.onCommit)
	err := guard(func() error { return o.run(t) })
	_, bug := errors.AsType[imagegen.Violation](err)
	if err != nil && (bug || t.written > written || !imagegen.Definite(err)) {
		return err
	}
	if o.refusal = err; err != nil {
		t.onCommit = t.onCommit[:callbacks]
	}
	return nil
}

// atFault is the answer to an operation that failed alone and was rolled back. It is always definite: whatever
// the error was, nothing was written.
func (d *database) atFault(err error) error {
	d.report("a write was rolled back", err)
	if imagegen.Definite(err) {
		return err
	}
	return notApplied(err)
}

// conclude commits and answers. After a success it runs the callbacks first, then lets
// readers see the transaction, then answers: no caller hears of a write before it can be
// read. After a failure there are three cases: the outcome is unknown, and the database
// stops; the disk is full but the ballast is free now, and the operations run again,
// once, for there is no second ballast; or the disk is full for good.
func (d *database) conclude(t *tx, ops []*op) (answered int) {
	id := t.bolt.ID()
	began := time.Now()
	err := guard(func() error { return d.commit(t.bolt) })
	kv.Observe(d.observer, "Options.Observer", d.log, time.Since(began), len(ops), err)
	if err == nil {
		t.committed()
		d.durable.set(id)
		return acknowledge(ops)
	}
	_ = guard(t.bolt.Rollback) // bbolt has done so itself, unless it panicked
	switch {
	case !survivable(err) || d.shows(id):
		d.stopAfter(err)
		return answer(ops, fmt.Errorf("%w: %v", ErrOutcomeUnknown, err))
	case d.makeRoom():
		d.log.Warn("the disk is full: what was set aside for this has been freed", "error", err)
		return d.transact(ops)
	}
	return answer(ops, notApplied(errNoSpace))
}

// shows reports whether readers see a transaction that could not be committed. Some
// filesystems, such as FUSE, keep in the memory map what they had no space to write. An
// operation that ran again would then find its own change, and be acknowledged without
// ever being durable.
func (d *database) shows(id int) bool {
	shows := true
	_ = guard(func() error {
		return d.bolt.View(func(t *bbolt.Tx) error {
			shows = t.ID() >= id
			return nil
		})
	})
	return shows
}

// committed runs the callbacks of a commit before any reader sees it, so that caches in
// memory are never older than what somebody has read.
func (t *tx) committed() {
	for _, f := range t.onCommit {
		f()
	}
}

// acknowledge gives each operation its own answer: nil, or its refusal. It is called when
// everything that the operations have written or seen is decided.
func acknowledge(ops []*op) (answered int) {
	for _, o := range ops {
		o.done <- o.refusal
	}
	return len(ops)
}

// answer gives all operations the same error.
func answer(ops []*op, err error) (answered int) {
	for _, o := range ops {
		o.done <- err
	}
	return len(ops)
}

// stopAfter stops the database for good: after a failed flush the kernel may have dropped what
// it could not write, so bbolt's view of the file may be wrong. It runs at most once,
// since transact refuses everything afterwards. failed is closed last, so that a caller that
// sees it closed can read fault, and finds the file marked for a check.
func (d *database) stopAfter(err error) {
	d.report("the disk failed under a commit; nothing more is written", err)
	d.fault = fmt.Errorf("%w: the disk failed under a commit: %v", ErrStopped, err)
	d.onFault(err)
	close(d.failed)
}

// Err returns why the database has stopped; nil if it has not.
func (d *database) Err() error {
	select {
	case <-d.failed:
		return d.fault
	default:
		return nil
	}
}
