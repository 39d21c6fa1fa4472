package postgres

import (
	"context"
	"errors"
	"hash/maphash"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

const (
	// lanes is how many transactions of calls this process has under way: while one waits for its commit,
	// the other decides.
	lanes = 2
	// mostCalls is how many calls one transaction serves.
	mostCalls = 256
)

// call is one write. It decides before it writes anything, as kv.DB has it, and may be run again.
type call struct {
	ctx  context.Context // counts until the call is taken up
	need need
	run  func(*session) error
	err  error
	done chan struct{}
}

// committer serves calls in batches.
type committer struct {
	db    *DB
	seed  maphash.Seed
	lanes [lanes]chan *call
	quit  chan struct{}
	ends  sync.WaitGroup
}

func newCommitter(db *DB) *committer {
	c := &committer{db: db, seed: maphash.MakeSeed(), quit: make(chan struct{})}
	for i := range c.lanes {
		c.lanes[i] = make(chan *call)
		c.ends.Go(func() { c.serve(c.lanes[i]) })
	}
	return c
}

// stop waits for what is under way. Nobody may call any more.
func (c *committer) stop() {
	close(c.quit)
	c.ends.Wait()
}

// write has f run in the transaction of a batch. Calls about the same, by its name, take turns: they would
// only wait for each other's rows.
func (db *DB) write(ctx context.Context, about string, n need, f func(*session) error) error {
	if err := kv.NotBegun(ctx); err != nil {
		return err
	}
	if err := db.enter(); err != nil {
		return err
	}
	defer db.calls.Done()
	c := &call{ctx: ctx, need: n, run: f, done: make(chan struct{})}
	com := db.committer
	select {
	case com.lanes[maphash.String(com.seed, about)%lanes] <- c:
	case <-ctx.Done():
		return kv.NotBegun(ctx)
	}
	<-c.done
	return c.err
}

// serve takes up what waits in a lane, batch after batch.
func (c *committer) serve(lane chan *call) {
	for {
		var batch []*call
		select {
		case first := <-lane:
			batch = append(batch, first)
		case <-c.quit:
			return
		}
		for more := true; more && len(batch) < mostCalls; {
			select {
			case next := <-lane:
				batch = append(batch, next)
			default:
				more = false
			}
		}
		c.do(batch)
	}
}

// do serves a batch and tells each call. A refusal counts no more than the batch does: it may be for what a call before it
// did. One that has spoilt its batch is run again as the first of another.
func (c *committer) do(batch []*call) {
	var s *session
	err := retried(func() (err error) {
		s, err = c.db.transact(batch)
		return err
	})
	if at := spoiltAt(batch, err); at > 0 {
		c.do(batch[:at])
		c.do(batch[at:])
		return
	} else if at == 0 {
		first := batch[0]
		close(first.done) // it was refused for nothing that did not stand
		if len(batch) > 1 {
			c.do(batch[1:])
		}
		return
	}
	if err == nil {
		s.told()
	}
	for _, call := range batch {
		if err != nil {
			call.err = err
		}
		close(call.done)
	}
}

// spoilt is how a batch ends in which a call failed after it had written: nothing of it stands.
type spoilt struct{ by *call }

func (spoilt) Error() string { return "postgres: a call failed after it had written" }

// spoiltAt finds the call that has spoilt a batch; -1: none has.
func spoiltAt(batch []*call, err error) int {
	s, ok := errors.AsType[spoilt](err)
	if !ok {
		return -1
	}
	return slices.Index(batch, s.by)
}

// errOpened: accounts were opened that were missing; the transaction is run again.
var errOpened = errors.New("postgres: accounts were opened")

// transact runs calls in one transaction.
func (db *DB) transact(batch []*call) (s *session, err error) {
	for {
		if s, err = db.try(batch); !errors.Is(err, errOpened) {
			return s, err
		}
	}
}

func (db *DB) try(batch []*call) (*session, error) {
	ctx, cancel := context.WithTimeout(context.Background(), longestTransaction)
	defer cancel()
	c, err := db.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer c.release()
	s := newSession(ctx, db, c, true)
	var all need
	for _, call := range batch {
		call.err = nil
		all.add(call.need)
	}
	var b pgx.Batch
	b.Queue(begin)
	b.Queue(settings)
	s.prefetch(&b, all)
	if err := s.send(&b); err != nil {
		return nil, s.abandon(err)
	}
	if missing := s.missing(all.users); len(missing) > 0 {
		s.abandon(errOpened)
		if err := db.openAccounts(ctx, missing); err != nil {
			return nil, notBegun(err)
		}
		return nil, errOpened
	}
	if err := s.decide(batch); err != nil {
		return nil, s.abandon(err)
	}
	return s, s.commit(len(batch))
}

// missing are the users who have no account yet: there was nothing to lock, and what was read may be changing.
func (s *session) missing(users []imagegen.UserID) (missing [][]byte) {
	for _, u := range unique(users) {
		if s.accounts[imagegen.UserID(u)] == nil {
			missing = append(missing, u)
		}
	}
	return missing
}

// openAccounts opens accounts that nothing is entered in, to be locked.
func (db *DB) openAccounts(ctx context.Context, users [][]byte) error {
	return retried(func() error {
		_, err := db.pool.Exec(ctx, `insert into imagegend.accounts select u, 0, null, '' from unnest($1::bytea[]) x(u) order by u on conflict do nothing`, users)
		return err
	})
}

// decide runs the calls. The error is of the transaction; a call's own stands with it.
func (s *session) decide(batch []*call) error {
	for _, call := range batch {
		before, waits := s.changes, len(s.onCommit)
		err := spared(func() error { return call.run(s) })
		if codeOf(err) != "" || s.conn.Conn.Conn().IsClosed() {
			return err
		}
		if call.err = err; err != nil {
			s.onCommit = s.onCommit[:waits]
			if s.changes != before {
				return spoilt{call}
			}
		}
	}
	return nil
}
