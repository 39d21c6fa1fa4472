package engine

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine/internal/waiting"
)

// maxRecovered is how many records are recovered in one commit.
const maxRecovered = 64

// maxResumptions is how often a saved job is resumed after the process that ran it died,
// since the job may be what kills them. It is counted before the job is resumed.
const maxResumptions = 5

// recoverEvery is how long abandoned work waits at most once its lease has ended.
const recoverEvery = 3 * time.Second

// errInterrupted is why an attempt failed whose process was killed, or lost its lease.
var errInterrupted = errors.New("the attempt was interrupted")

// A user's turn of recovery ends after recoverTurn, and recoverUsers is for how many users
// work is recovered at once: an outside ledger may answer for some users late or never, and
// these hold up only themselves.
const (
	recoverTurn  = 5 * time.Minute
	recoverUsers = 8
)

// recoverAbandoned finishes what attempts left behind when they died: those of an earlier
// process, or of this one after a failed write. It calls no provider and needs no slot.
func (e *Engine) recoverAbandoned(ctx context.Context) {
	turns := &recovery{free: make(chan struct{}, recoverUsers), users: make(map[imagegen.UserID]bool)}
	defer func() {
		turns.running.Wait()
		turns.log(e.cfg.Log)
	}()
	interval := max(min(e.cfg.Attempts.Lease/2, recoverEvery), time.Second)
	for ctx.Err() == nil {
		records, err := e.abandoned(ctx)
		e.warn(ctx, err, "the search for abandoned work failed")
		if len(records) > 0 {
			waiting.Pause(ctx, interval, e.recoverAll(ctx, records, turns))
		}
		if err != nil || len(records) < maxRecovered {
			turns.log(e.cfg.Log)
			waiting.Pause(ctx, interval)
		}
	}
}

// recovery is the users whose work is being recovered.
type recovery struct {
	free    chan struct{} // holds a value for each of them
	running sync.WaitGroup
	mu      sync.Mutex // guards what follows
	users   map[imagegen.UserID]bool
	sum     recovered
}

// recovered counts what became of abandoned generations, so that the log sums up what a crash has
// interrupted.
type recovered struct{ ended, again, left int }

// countRecord counts one of them.
func (t *recovery) countRecord(again bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case err != nil:
		t.sum.left++
	case again:
		t.sum.again++
	default:
		t.sum.ended++
	}
}

// log sums up what was recovered since the last time, unless more is being recovered.
func (t *recovery) log(log *slog.Logger) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.users) > 0 || t.sum == (recovered{}) {
		return
	}
	log.Info("interrupted work was recovered", "ended", t.sum.ended, "tried_again", t.sum.again, "left_for_later",
		t.sum.left)
	t.sum = recovered{}
}

// claimUser begins a user's turn, unless that user has one already.
func (t *recovery) claimUser(u imagegen.UserID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.users[u] {
		return false
	}
	t.users[u] = true
	return true
}

func (t *recovery) releaseUser(u imagegen.UserID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.users, u)
}

// recoverAll recovers records: each user's one after the other, in a turn of their own. done is
// closed when all turns have ended. It holds the leases of all records from the start,
// since that may take longer than a lease lasts: another engine would otherwise take over
// those that wait for their turn, and this engine would take them back.
func (e *Engine) recoverAll(ctx context.Context, records []imagegen.Record, turns *recovery) (done <-chan struct{}) {
	of := make(map[imagegen.UserID][]imagegen.Record)
	var users []imagegen.UserID // in the order of their first records
	for _, r := range records {
		e.leases.hold(r.Fence(), func(error) {})
		if of[r.User] == nil {
			users = append(users, r.User)
		}
		of[r.User] = append(of[r.User], r)
	}
	all, ended := sync.WaitGroup{}, make(chan struct{})
	for _, u := range users {
		turns.free <- struct{}{}
		all.Add(1)
		turns.running.Go(func() {
			defer all.Done()
			defer func() { <-turns.free }()
			e.recoverTurn(ctx, of[u], turns)
		})
	}
	turns.running.Go(func() {
		all.Wait()
		close(ended)
	})
	return ended
}

// recoverTurn recovers records of one user. What it leaves is recovered later, or elsewhere,
// when its leases have ended.
func (e *Engine) recoverTurn(ctx context.Context, records []imagegen.Record, turns *recovery) {
	for _, r := range records {
		defer e.leases.drop(r.Fence())
	}
	u, began := records[0].User, time.Now()
	if !turns.claimUser(u) {
		return
	}
	defer turns.releaseUser(u)
	for _, r := range records {
		if ctx.Err() != nil || time.Since(began) > recoverTurn {
			return
		}
		again, err := e.recoverOne(r)
		turns.countRecord(again, err)
		if err != nil {
			e.cfg.Log.Warn("a generation could not be recovered and will be tried again", "generation", r.ID, "state",
				r.State, "error", err)
		}
	}
}

// abandoned leases records that nobody works on. It first prolongs the leases of this
// process, which may have been suspended for longer than they last and must not take its
// own work for abandoned.
func (e *Engine) abandoned(ctx context.Context) ([]imagegen.Record, error) {
	if err := e.prolong(); err != nil {
		return nil, err
	}
	records, err := e.store.Recover(ctx, maxRecovered, e.cfg.Attempts.Lease)
	if err != nil { // this engine does not own such records
		return nil, err
	}
	return records, nil
}

// recoverOne repeats the step that was not finished; again says that the work is back in the
// queue. It does not take a context: once begun, a step is carried through even if the engine
// drains.
func (e *Engine) recoverOne(r imagegen.Record) (again bool, err error) {
	ctx := context.Background()
	defer e.leases.drop(r.Fence())
	switch r.State {
	case imagegen.StateCharging:
		return false, e.recoverCharging(ctx, r)
	case imagegen.StateSettling:
		return false, e.recoverSettling(ctx, r)
	case imagegen.StateErasing:
		ctx, cancel := withoutCancel(ctx)
		defer cancel()
		return false, e.purge(ctx, r)
	}
	return e.recoverProcessing(ctx, r)
}

// recoverSettling repeats a settlement whose outcome is recorded.
func (e *Engine) recoverSettling(ctx context.Context, r imagegen.Record) error {
	unheard := e.callerGone(r)
	within, closing := e.beginStep(ctx, imagegen.EventClosed, r)
	got, err := e.close(within, r)
	closing.report(0, err)
	if err != nil {
		return err
	}
	e.concluded(ctx, got)
	e.uploads.RemoveFiles(got.References)
	if unheard && got.State == imagegen.StateSucceeded {
		e.markDelivery(got, imagegen.DeliveryChange{Undelivered: true})
	}
	return nil
}

// callerGone reports whether the caller of a generation was lost with an earlier process,
// so that an equal call may join.
func (e *Engine) callerGone(r imagegen.Record) bool {
	return r.JoinKey != [32]byte{} && !e.waiting.Knows(r.ID)
}

// recoverCharging undoes a charge that may or may not exist. If the ledger refuses to
// release it, the owner sees a failed generation.
func (e *Engine) recoverCharging(ctx context.Context, r imagegen.Record) error {
	err := e.void(ctx, r)
	if imagegen.Permanent(err) {
		var got imagegen.Record
		if got, err = e.dispute(ctx, r, err, nil); err == nil {
			e.concluded(ctx, got)
		}
	}
	if err == nil {
		e.uploads.RemoveFiles(r.References)
	}
	return err
}

// recoverProcessing returns an interrupted attempt to the queue, or fails it: synchronous
// work has lost its caller, and asynchronous work may have used up its tries.
func (e *Engine) recoverProcessing(ctx context.Context, r imagegen.Record) (again bool, err error) {
	e.removeEarlierImages(ctx, r)
	if r.Job == nil && len(r.Images) < r.N {
		e.lost(ctx, r, r.N-len(r.Images), errInterrupted)
	}
	lost := r.Job == nil // an upstream job that is resumed costs no try
	hopeless := r.Resumptions >= maxResumptions
	whole := len(r.Images) == r.N
	if !r.Async || whole || lost && r.Failures >= len(e.cfg.Attempts.Backoff) || hopeless || e.tooOld(r) {
		return false, e.fail(ctx, r, errInterrupted.Error())
	}
	release := imagegen.ReleaseChange{Resumed: true}
	if lost {
		release = imagegen.ReleaseChange{Delay: e.cfg.Attempts.Backoff[r.Failures], Failed: true}
	}
	_, err = e.update(ctx, r.Fence(), release)
	return true, err
}
