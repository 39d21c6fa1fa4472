// Package waiting knows which calls wait for the work of another call: for the answer under their idempotency key, for
// that of an equal call whose caller hung up, or for the end of a generation.
//
// All of it is in memory and concerns calls of this process. What other processes on the store do is found by looking
// again now and then. A lost process loses no credits: at worst a caller makes a call anew.
package waiting

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/internal/share"
)

// pollEvery is how often a call looks for the end of work that another process may do.
const pollEvery = time.Second

// maxAwaits is how many calls of one caller may wait for the end of a generation at once.
const maxAwaits = 64

var (
	// ErrTooMany: as many calls of the caller wait as may.
	ErrTooMany = errors.New("imagegen: too many calls of this API key wait for the answer of another one")
	// ErrTooLong: the call has waited as long as a synchronous call may.
	ErrTooLong = errors.New("imagegen: the call waited as long as a synchronous call may")
)

// Config is what a Room needs of its engine.
type Config struct {
	Store      imagegen.Store
	Draining   context.Context // ends when the engine drains: then nobody waits any more
	Timeout    time.Duration   // of a synchronous call
	MaxWaiting int             // how many calls of one caller wait for answers at once
	JoinWindow time.Duration   // how long after its end a generation can be joined

	// Age returns how long ago a time was.
	Age func(time.Time) time.Duration
	// RunsHere lists the generations whose end this process reports by Ended.
	RunsHere func() map[imagegen.GenerationID]bool
	// Mark records whether nobody has received the answer of a generation.
	Mark func(imagegen.Record, imagegen.DeliveryChange)
}

// Caller identifies whose waiting calls are counted together: those of one API key, or of one user without a key.
type Caller struct {
	User imagegen.UserID
	Key  imagegen.KeyID
}

// Room is where the calls of one engine wait. It is safe for concurrent use.
type Room struct {
	Config
	*openCalls
	answers *share.Shares[Caller] // calls that wait for the answer of another one
	awaits  *share.Shares[Caller] // calls that wait for the end of a generation
	ends    *ends
	poller  poller
	keys    *keyedCalls
}

// NewRoom returns a room in which nobody waits.
func NewRoom(c Config) *Room {
	return &Room{Config: c, answers: share.New[Caller](int64(c.MaxWaiting), math.MaxInt64),
		awaits: share.New[Caller](maxAwaits, math.MaxInt64), openCalls: newOpenCalls(),
		ends: &ends{of: make(map[imagegen.GenerationID]*endSignal)},
		keys: &keyedCalls{calls: make(map[userKey]*keyedCall)}}
}

// Answer returns a record as soon as its first call can be answered, and meanwhile hands it to show each time that it
// has looked. It is woken by Ended, and looks again every pollEvery for an end in another process. ErrOverloaded: the
// engine began to drain. ErrNotFound: the record was abandoned.
func (r *Room) Answer(ctx context.Context, c Caller, id imagegen.GenerationID,
	show func(imagegen.Record)) (imagegen.Record, error) {
	ctx, leave, err := r.whileWaiting(ctx, c)
	if err != nil {
		return imagegen.Record{}, err
	}
	defer leave()
	for {
		got, err := r.lookOrWait(ctx, id, show)
		switch {
		case ctx.Err() != nil:
			return imagegen.Record{}, whyEnded(ctx)
		case err != nil || Answerable(got):
			return got, err
		}
	}
}

// lookOrWait reads a record once. If its first call cannot be answered yet, it returns when that may have changed.
func (r *Room) lookOrWait(ctx context.Context, id imagegen.GenerationID, show func(imagegen.Record)) (imagegen.Record,
	error) {
	ended, leave := r.ends.listen(id) // before the look, so that nothing is missed
	defer leave()
	got, err := r.Store.Generation(ctx, id)
	if err == nil && !Answerable(got) {
		show(got)
		Pause(ctx, pollEvery, ended)
	}
	return got, err
}

// Answerable reports whether the first call of a record can be answered.
func Answerable(r imagegen.Record) bool {
	switch {
	case r.State == imagegen.StateCharging:
		return false
	case r.Async:
		return true
	}
	return r.Terminal() || !r.Visible()
}

// Await waits until a generation has ended, but no longer than most or [imagegen.MaxAwait]. It calls look before and
// after that, and waits only if look reports that the generation has not ended, and if few enough calls of the caller
// do. usable ends the wait with its error: it says whether the caller may still wait.
func (r *Room) Await(ctx context.Context, c Caller, id imagegen.GenerationID, most time.Duration,
	look func() (ended bool, err error), usable func(context.Context) error) error {
	if !r.awaits.Take(c, 1) {
		_, err := look()
		return err
	}
	defer r.awaits.Give(c, 1)
	signal, forget := r.ends.listen(id) // before the look, so that nothing is missed
	defer forget()
	if ended, err := look(); ended || err != nil || most <= 0 {
		return err
	}
	defer r.poll()()
	if err := r.awaitSignal(ctx, signal, min(most, imagegen.MaxAwait), usable); err != nil {
		return err
	}
	_, err := look()
	return err
}

// awaitSignal returns when the signal comes, the engine drains, or the time is over.
func (r *Room) awaitSignal(ctx context.Context, signal <-chan struct{}, most time.Duration,
	usable func(context.Context) error) error {
	for left := most; left > 0; left -= pollEvery {
		woken := Pause(ctx, min(left, pollEvery), signal, r.Draining.Done())
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := usable(ctx); err != nil || woken {
			return err
		}
	}
	return nil
}

// Ended wakes the calls that wait for a generation which has ended, and notes how it ended: a failed one cannot be
// joined, and if no caller of one that succeeded is left, the store notes it.
func (r *Room) Ended(ended imagegen.Record) {
	r.ends.announce(ended.ID)
	r.endOpenCall(ended)
}

// whileWaiting counts a call that waits for another one, until leave, and returns its context. That ends with the
// caller's context, when the engine drains, and when the time limit of a synchronous call is over. ErrTooMany.
func (r *Room) whileWaiting(ctx context.Context, c Caller) (_ context.Context, leave func(), err error) {
	if !r.answers.Take(c, 1) {
		return nil, nil, ErrTooMany
	}
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(r.Draining, func() { cancel(imagegen.ErrStopping) })
	ctx, end := context.WithTimeoutCause(ctx, r.Timeout, ErrTooLong)
	return ctx, func() { end(); stop(); cancel(nil); r.answers.Give(c, 1) }, nil
}

// whyEnded returns why the context of whileWaiting ended.
func whyEnded(ctx context.Context) error {
	cause := context.Cause(ctx)
	if errors.Is(cause, imagegen.ErrStopping) {
		return imagegen.Overloaded(5*time.Second, cause)
	}
	return cause
}

// Pause waits until d has passed, ctx ends, or one of at most two channels is closed, and reports whether that was
// before d had passed. A nil channel never wakes it.
func Pause(ctx context.Context, d time.Duration, wakes ...<-chan struct{}) (woken bool) {
	var wake [3]<-chan struct{}
	copy(wake[:], wakes)
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-wake[0]:
	case <-wake[1]:
	case <-wake[2]:
	case <-t.C:
		return false
	case <-ctx.Done():
	}
	return true
}
