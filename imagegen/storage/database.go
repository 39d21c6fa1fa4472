package storage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"go.etcd.io/bbolt"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// database is a kv.DB over a bbolt file. All writes go through one goroutine, the
// committer. Readers run on their callers' goroutines, each over a snapshot of its own.
//
// It has three states: open; stopped by a commit whose outcome is unknown, when reads of
// what is durable go on and writes are refused; and closed.
type database struct {
	bolt     *bbolt.DB
	log      *slog.Logger
	commit   func(*bbolt.Tx) error // tests make it fail
	makeRoom func() bool           // frees what was set aside for a full disk; false: nothing is left
	observer imagegen.Observer     // nil: there is none
	// called with the error of a commit whose outcome is unknown, before any caller gets it
	onFault func(error)

	queue   chan *op      // Update sends, the committer receives; never closed
	quit    chan struct{} // closed to end the committer
	ended   chan struct{} // closed when it has: what is then in the queue is never run
	durable durableTx

	failed chan struct{} // closed at the first commit whose outcome is unknown
	fault  error         // why; written once before failed is closed, and read only after that
	close  sync.Once
}

var _ kv.DB = (*database)(nil)

// newDatabase wraps an open file. Nothing runs before start.
func newDatabase(bolt *bbolt.DB, log *slog.Logger) *database {
	return &database{
		bolt: bolt, log: log,
		commit:   (*bbolt.Tx).Commit,
		makeRoom: func() bool { return false },
		onFault:  func(error) {},
		queue:    make(chan *op, maxOps),
		quit:     make(chan struct{}),
		ended:    make(chan struct{}),
		failed:   make(chan struct{}),
		durable:  durableTx{moved: make(chan struct{})},
	}
}

// start starts the committer on a file that nobody else writes. What the file shows now is
// durable: settle has seen to that when the file was opened.
func (d *database) start() error {
	go d.runCommitter()
	err := d.bolt.View(func(t *bbolt.Tx) error {
		d.durable.set(t.ID())
		return nil
	})
	if err != nil {
		return fmt.Errorf("storage: the database cannot be read: %v", err)
	}
	return nil
}

// stop ends the committer, waits for readers and closes the file. It may be called again.
func (d *database) stop() (err error) {
	d.close.Do(func() {
		close(d.quit)
		<-d.ended
		err = d.bolt.Close()
	})
	return err
}

// stopped returns why nothing more may be written; nil if there is no reason.
func (d *database) stopped() error {
	select {
	case <-d.quit:
		return errClosed
	default:
		return d.Err()
	}
}

// View implements kv.DB. It may wait for a commit that is being flushed; ctx ends that wait.
func (d *database) View(ctx context.Context, f func(kv.Tx) error) error {
	return d.view(ctx, func(t *tx) error { return f(t) })
}

// view is View with the concrete type. It waits until what it shows is durable. A panic of
// f, or a damaged page, becomes its error; a panic is also logged, with its stack.
func (d *database) view(ctx context.Context, f func(*tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t, err := d.bolt.Begin(false)
	if err != nil {
		return errClosed
	}
	defer t.Rollback()
	if err := d.untilDurable(ctx, t.ID()); err != nil {
		return err
	}
	err = guard(func() error { return f(&tx{bolt: t}) })
	if _, bug := errors.AsType[*panicError](err); bug {
		d.report("a read failed", err)
	}
	return err
}

// report logs an error, with the stack of a panic.
func (d *database) report(what string, err error) {
	log := d.log
	if p, ok := errors.AsType[*panicError](err); ok {
		log = log.With("stack", string(p.stack))
	}
	log.Error(what, "error", err)
}

// untilDurable waits until the commit that a snapshot shows is durable. bbolt shows a
// commit as soon as it is written, before it is flushed: a caller who got it
// then could see it lost later.
func (d *database) untilDurable(ctx context.Context, id int) error {
	for {
		moved := d.durable.pending(id)
		if moved == nil {
			return nil
		}
		select {
		case <-moved:
		case <-d.failed:
			return d.fault
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// durableTx is the last transaction that is known to be durable. The committer sets it;
// readers wait for it.
type durableTx struct {
	mu    sync.Mutex    // guards the fields below
	id    int           // of bbolt's transaction; rises with each commit
	moved chan struct{} // closed, and replaced, when id rises
}

// pending returns nil if a transaction is durable, else a channel that is closed when a
// later one is.
func (t *durableTx) pending(id int) <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if id <= t.id {
		return nil
	}
	return t.moved
}

// set marks a transaction as durable and wakes everybody who waits.
func (t *durableTx) set(id int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.id = id
	close(t.moved)
	t.moved = make(chan struct{})
}
