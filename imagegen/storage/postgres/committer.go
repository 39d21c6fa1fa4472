package postgres

import (
	"context"
	"errors"
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

const (
	// lanes is how many transactions for calls this process runs at the same time: while one waits for its commit,
	// the other decides.
	lanes = 2
	// books is the lane of grants and revocations, which ask the database besides, and acts that of all other acts.
	books = lanes
	acts  = lanes + 1
	// mostCalls is the most calls that one transaction serves.
	mostCalls = 256
)

// call is one write on its way through the committer.
//
// run decides before it writes anything, as kv.DB demands: an error before its first write is a refusal, which
// disturbs no other call of its batch. It may run several times, in different transactions, and must set what it
// captures anew each time. err is set before done is closed, and read after.
type call struct {
	ctx  context.Context // counts until it is taken up, and while it waits alone
	acts bool            // it is an act: its batch, of acts alone, holds the lock of all acts
	need need
	run  func(*session) error
	err  error
	lane chan<- *call // that takes it up
	done chan struct{}
}

// committer serves calls in batches. Each lane has a goroutine, which runs one transaction after the other; it ends
// when quit is closed.
type committer struct {
	db    *DB
	seed  maphash.Seed // decides which lane a name belongs to
	lanes [acts + 1]chan *call
	quit  chan struct{}
	ends  sync.WaitGroup // of the goroutines
}

// newCommitter starts the lanes. Their channels have no buffer: a call that was not taken up can still be withdrawn.
func newCommitter(db *DB) *committer {
	c := &committer{db: db, seed: maphash.MakeSeed(), quit: make(chan struct{})}
	for i := range c.lanes {
		c.lanes[i] = make(chan *call)
		c.ends.Go(func() { c.runLane(c.lanes[i]) })
	}
	return c
}

// stop ends the lanes. It must be called once, and when no call is under way any more: one that came later would wait
// for ever.
func (c *committer) stop() {
	close(c.quit)
	c.ends.Wait()
}

// act runs f, an act of an operator or a sign-in, in the transaction of a batch of its lane, see batched. So those of a
// process wait for each other's commits no more often than other writes do. n names the accounts that it changes:
// locked one by one, in the order in which acts come, they would be a deadlock with those of other batches.
func (db *DB) act(ctx context.Context, lane int, n need, f func(*session) error) error {
	if db.committer == nil { // an end of a move
		return db.update(ctx, f)
	}
	return db.await(ctx, db.committer.lanes[lane], &call{acts: lane == acts, need: n, run: f})
}

// batched runs f in the transaction of a batch and returns its refusal, or the error of the batch. ctx counts until the
// call is taken up; after that write waits for the outcome, so that the caller need not guess it.
//
// about names what the call is about: a user, a charge or a generation. Calls about the same take the same lane. In
// two lanes one would wait for the rows of the other, and hold up all calls of its batch meanwhile.
func (db *DB) batched(ctx context.Context, about string, n need, f func(*session) error) error {
	com := db.committer
	return db.await(ctx, com.lanes[maphash.String(com.seed, about)%lanes], &call{need: n, run: f})
}

// await hands a call to a lane and waits for its outcome.
func (db *DB) await(ctx context.Context, lane chan<- *call, c *call) error {
	if err := kv.NotBegun(ctx); err != nil {
		return err
	}
	if err := db.enter(); err != nil {
		return err
	}
	defer db.calls.Done()
	c.ctx, c.lane, c.done = ctx, lane, make(chan struct{})
	for _, u := range c.need.users {
		if a := db.taken.join(u, false); a != nil {
			db.committer.waitAlone(c, a)
			<-c.done
			return c.err
		}
	}
	db.committer.hand(c)
	<-c.done
	return c.err
}

// hand hands a call to its lane, which answers it; if nobody takes it up there, it is answered here.
func (c *committer) hand(to *call) {
	within, cancel := c.db.patiently(to.ctx)
	defer cancel()
	select {
	case to.lane <- to:
	case <-within.Done():
		to.err = unread(to.ctx, errQueue)
		close(to.done)
	}
}

// runLane is the goroutine of a lane. It takes up one call and whatever else waits by then, up to mostCalls, and serves
// them together. There is no timer: a call that comes alone waits for nobody, and under load a batch is what came in
// during the one before. quit is looked at between batches only.
func (c *committer) runLane(lane chan *call) {
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
		c.runBatch(batch)
	}
}

// runBatch serves a batch and answers each of its calls once.
//
// A call sees what those before it in the batch have written. So a refusal may be for something that is never
// committed, and counts only if the batch commits; otherwise all calls get the error of the batch.
//
// A call that failed after it had written has spoilt its batch, of which nothing stands. Those before it run again
// without it, then it runs again as the first of what is left. If it was the first already, it has seen only durable
// rows: its error stands, and the others run again without it.
//
// Nobody knows which call a damaged row belongs to that was read for all of them, nor which one will always be in the
// way of something, so each half of the batch runs by itself.
//
// What waits for the commit (OnCommit) runs before any call is answered, so that nobody who was answered finds an
// older row in a cache.
func (c *committer) runBatch(batch []*call) {
	s, err := c.run(batch, shortWait, c.db.taken.all())
	if e, is := errors.AsType[takenError](err); is {
		if rest := c.without(batch, e); len(rest) > 0 {
			c.runBatch(rest)
		}
		return
	}
	c.answer(batch, s, err)
}

// run runs a batch, which waits for a lock for as long as wait at first, and passes some accounts over.
func (c *committer) run(batch []*call, wait time.Duration, past []string) (s *session, err error) {
	err = retried(func() (err error) {
		s, err = c.db.transact(batch, wait, past)
		if codeOf(err) == codeLockNotAvailable {
			if wait *= 2; wait > longestWait {
				return contended(err)
			}
		}
		return err
	})
	return s, err
}

// answer answers the calls of a batch, or runs some of them again, as runBatch says.
func (c *committer) answer(batch []*call, s *session, err error) {
	if _, damaged := errors.AsType[kv.Damage](err); len(batch) > 1 && (damaged || errors.Is(err, errContended)) {
		c.runBatch(batch[:len(batch)/2])
		c.runBatch(batch[len(batch)/2:])
		return
	}
	if at := spoiltAt(batch, err); at > 0 {
		c.runBatch(batch[:at])
		c.runBatch(batch[at:])
		return
	} else if at == 0 {
		first := batch[0]
		close(first.done) // nothing uncommitted was before it: its own error stands
		if len(batch) > 1 {
			c.runBatch(batch[1:])
		}
		return
	}
	if err == nil {
		s.committed()
	}
	for _, call := range batch {
		if err != nil {
			call.err = err
		}
		close(call.done)
	}
}

// spoilt is the error of a transaction in which a call failed after it had written. It was rolled back.
type spoilt struct{ by *call }

func (spoilt) Error() string { return "postgres: a call failed after it had written" }

// spoiltAt returns the index of the call that has spoilt a batch; -1: none has.
func spoiltAt(batch []*call, err error) int {
	s, ok := errors.AsType[spoilt](err)
	if !ok {
		return -1
	}
	return slices.Index(batch, s.by)
}

// errUnlocked: something was read without the lock of its account, and may be changing. When the transaction runs
// again, there is a row to lock.
var errUnlocked = errors.New("postgres: an account was not locked")

// transact runs calls in one transaction, once it can lock all of their accounts.
func (db *DB) transact(batch []*call, wait time.Duration, past []string) (s *session, err error) {
	for range mostTries {
		if s, err = db.try(batch, wait, past); !errors.Is(err, errUnlocked) {
			return s, err
		}
	}
	return nil, contended(err)
}

// try runs calls in one transaction of two round trips, if the calls have named all that they need: settings, locks and
// reads are one, writes and commit the other. Its context is not that of any call: a caller that gives up waiting
// must not break off the writes of others.
//
// It waits for locks as long as wait, and does not try to lock the accounts in past. A takenError names the calls that
// need an account which was not to be had.
func (db *DB) try(batch []*call, wait time.Duration, past []string) (*session, error) {
	ctx, cancel := context.WithTimeout(context.Background(), longestTransaction)
	defer cancel()
	c, err := db.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer c.release()
	s := newSession(ctx, db, c, true)
	s.wait, s.past, s.acts = wait, past, batch[0].acts
	var all need
	for _, call := range batch {
		call.err = nil
		all.merge(call.need)
	}
	var b pgx.Batch
	b.Queue(begin)
	b.Queue(db.settings(wait))
	s.prefetch(&b, all)
	if err := s.send(&b); err != nil {
		if err = s.abandon(err); codeOf(err) == codeLockNotAvailable {
			err = s.whoIsTaken(batch, all, err)
		}
		return nil, err
	}
	if unlocked := s.unlocked(all.users); len(unlocked) > 0 {
		err := s.abandon(errUnlocked)
		if errors.Is(err, errUnlocked) {
			err = s.openAccounts(batch, unlocked)
		}
		return nil, err
	}
	if err := s.decide(batch); err != nil {
		return nil, s.abandon(err)
	}
	return s, s.commit(len(batch))
}

// unlocked returns the users whose accounts ought to be locked and are not: there is no account yet, or a charge was
// committed after the accounts were locked and before it was read.
func (s *session) unlocked(users []imagegen.UserID) []string {
	var missing []imagegen.UserID
	for _, u := range users {
		if s.accounts[u] == nil {
			missing = append(missing, u)
		}
	}
	for _, c := range s.charges {
		if c.known && s.accounts[c.User] == nil {
			missing = append(missing, c.User)
		}
	}
	return unique(missing)
}

const makeAccounts = `insert into imagegend.accounts (usr)
 select u from unnest($1::text[]) x(u) order by u on conflict do nothing`

// openAccounts makes accounts without entries, so that they can be locked, unless they are there. It is a transaction
// of its own; the order of the rows keeps two processes that open the same accounts from a deadlock. It returns
// errUnlocked once that is done, and a takenError if accounts were passed over, or somebody has made one and not
// committed.
func (s *session) openAccounts(batch []*call, users []string) error {
	if e := s.needing(batch, users, s.past); len(e.by) > 0 {
		return e
	}
	var b pgx.Batch
	b.Queue(begin)
	b.Queue(waitFor(s.wait))
	b.Queue(makeAccounts, users)
	b.Queue("commit")
	err := s.send(&b)
	if err == nil {
		return errUnlocked
	}
	if err = s.abandon(err); codeOf(err) == codeLockNotAvailable {
		return s.needing(batch, users, users)
	}
	return err
}

// decide runs the calls one after the other and notes the refusal of each with it. It returns an error if the
// transaction cannot go on: the database has failed a statement, the connection is lost, or a call has spoilt it.
func (s *session) decide(batch []*call) error {
	for n, call := range batch {
		before, waits := s.changes, len(s.onCommit)
		err := spared(func() error { return call.run(s) })
		if codeOf(err) == codeLockNotAvailable && len(s.awaited) > 0 {
			call.need.users = append(call.need.users, s.awaited...)
			return s.needing(batch[n:n+1], unique(s.awaited), unique(s.awaited))
		}
		if again(err) || codeOf(err) != "" || s.conn.Conn.Conn().IsClosed() {
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
