package linear_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage"
)

// database is what the clients use: the ledger, and the store that commits with it.
type database interface {
	imagegen.TxStore
	imagegen.CreditAdmin
	imagegen.Inspector
}

// run is one history in the making.
type run struct {
	database func() database // the one of this moment
	restart  func() error    // nil: it cannot be restarted
	accounts []ids
	left     atomic.Int64 // operations to be done yet
	clock    atomic.Int64 // counts calls and answers: their order is that of real time
	late     sync.WaitGroup

	mu      sync.Mutex
	history []porcupine.Operation
	err     error // an answer that no ledger may give
}

// ids hands out the charges and references of one account, and says how many calls are in doubt
// there: each doubles the ways in which the account may stand, and so what the checker must consider.
type ids struct{ charges, refs, doubts atomic.Int64 }

const mostDoubts = 4

// pick takes a new identifier, or one of the latest, so that clients meet over them.
func pick(r *rand.Rand, next *atomic.Int64, most int64, again float64) uint8 {
	if n := min(next.Load(), most); n > 0 && (n == most || r.Float64() < again) {
		return uint8(max(0, n-1-r.Int64N(8)))
	}
	return uint8(min(next.Add(1), most) - 1)
}

// client does operations until none are left. What was lost it asks again, as the engine does; now and
// then it forgets the matter.
func (u *run) client(n int, r *rand.Rand, restarts map[int64]bool) {
	var in input
	doubtful := false // what in asks may have been done, or be done yet
	for left := u.left.Add(-1); left >= 0; left = u.left.Add(-1) {
		if restarts[left] && u.restart != nil {
			u.fail(u.restart())
		}
		if !doubtful {
			in = u.next(r)
		}
		own := &u.accounts[in.account]
		switch u.do(n, in, r, doubtful || own.doubts.Load() < mostDoubts).answer {
		case lost:
			if !doubtful {
				own.doubts.Add(1)
			}
			doubtful = r.IntN(40) > 0
		case notApplied:
		case insufficient, unknown, refused:
			switch {
			case doubtful && (in.kind == charge || in.kind == settle): // what comes late is shut out
				in.kind, in.amount = settle, 0
			case doubtful: // until it can be done
				doubtful = r.IntN(20) > 0
			}
		default:
			if doubtful {
				own.doubts.Add(-1)
			}
			doubtful = false
		}
	}
}

// next chooses an operation. An identifier mostly goes with one amount, else there were only conflicts.
func (u *run) next(r *rand.Rand) input {
	in := input{account: r.IntN(len(u.accounts))}
	own := &u.accounts[in.account]
	amountOf := func(id, most uint8) uint8 {
		if r.IntN(8) == 0 {
			id = uint8(r.IntN(256))
		}
		return id % most
	}
	switch n := r.IntN(100); {
	case n < 36:
		in.id = pick(r, &own.charges, chargeIDs, 0.4)
		in.kind, in.amount = charge, 1+amountOf(in.id, mostCharge)
	case n < 62:
		in.id = pick(r, &own.charges, chargeIDs, 0.97)
		in.kind, in.amount = settle, amountOf(in.id/2, 1+in.id%mostCharge+1)
	case n < 82:
		in.kind = balance
	case n < 84:
		in.kind = []kind{pay, leave}[r.IntN(2)]
	case n < 94:
		in.id = pick(r, &own.refs, refs, 0.2)
		in.kind, in.amount = grant, 1+amountOf(in.id, mostGrant)
	default:
		in.id = pick(r, &own.refs, refs, 0.5)
		in.kind, in.amount = revoke, 1+amountOf(in.id, mostGrant)
	}
	if in.id%2 == 1 && in.kind == charge {
		in.kind = create
	}
	if in.id%2 == 1 && in.kind == settle {
		in.kind = finish
	}
	return in
}

// do carries out an operation and writes down what it looked like from outside. Its answer may be lost
// if the answer says so.
func (u *run) do(client int, in input, r *rand.Rand, lossy bool) output {
	db, called := u.database(), u.clock.Add(1)
	out := u.call(db, in, r, lossy)
	o := porcupine.Operation{ClientId: client, Input: in, Output: out, Call: called, Return: u.clock.Add(1)}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.history = append(u.history, o)
	return out
}

// call asks, and loses some answers: before, after and while the operation takes place. Some it
// calls off while they are under way.
func (u *run) call(db database, in input, r *rand.Rand, lossy bool) output {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	disturbance := r.IntN(100)
	switch {
	case in.kind == balance, in.kind == pay, in.kind == leave, in.kind == create && disturbance%3 > 0:
	case disturbance < 10 && !lossy:
	case disturbance < 2:
		return output{answer: lost}
	case disturbance < 6:
		u.ask(ctx, db, in)
		return output{answer: lost}
	case disturbance < 10:
		u.late.Go(func() { u.ask(context.Background(), db, in) })
		return output{answer: lost}
	case disturbance < 19:
		cancel()
	case disturbance < 26:
		defer time.AfterFunc(time.Duration(r.IntN(1000))*time.Microsecond, cancel).Stop()
	}
	runtime.Gosched() // others come in between
	defer runtime.Gosched()
	return u.ask(ctx, db, in)
}

func (u *run) ask(ctx context.Context, db database, in input) output {
	out, err := perform(ctx, db, in)
	if out.answer, err = answered(err); err != nil {
		u.fail(fmt.Errorf("%s %d: %w", in.kind, in.id, err))
	}
	return out
}

func (u *run) fail(err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.err = errors.Join(u.err, err)
}

func perform(ctx context.Context, db database, in input) (out output, err error) {
	user := userOf(in.account)
	id, ref := imagegen.ChargeID(fmt.Sprintf("%s-%d", user, in.id)), fmt.Sprintf("%s-%d", user, in.id)
	amount := imagegen.Credits(in.amount)
	switch in.kind {
	case charge:
		err = db.Charge(ctx, imagegen.Charge{ID: id, User: user, Credits: amount})
	case settle:
		err = db.Settle(ctx, id, amount)
	case create:
		var r imagegen.Record
		r, err = db.CreateCharged(ctx, recordOf(in), time.Hour)
		out.credits = uint8(r.Charge().Credits)
	case finish:
		var r imagegen.Record
		r, err = db.FinishSettled(ctx, recordOf(in).Fence(), outcomeOf(in))
		if err == nil && r.Balance != nil {
			out.balance = uint8(r.Balance.Credits)
		}
		out.credits = uint8(r.Used())
	case grant:
		_, err = db.Grant(ctx, imagegen.Grant{User: user, Credits: amount, Ref: ref})
	case revoke:
		_, err = db.Revoke(ctx, imagegen.Revocation{User: user, Credits: amount, Ref: ref})
	case balance:
		var b imagegen.Balance
		b, err = db.Balance(ctx, user)
		out.balance = uint8(b.Credits)
	case pay:
		err = db.SetSponsor(ctx, memberOf(in.account), user, limits)
	case leave:
		err = db.SetSponsor(ctx, memberOf(in.account), "", imagegen.KeyLimits{})
	}
	return out, err
}

// answered sorts an error. One that a ledger in order does not give is returned.
func answered(err error) (answer, error) {
	if _, ok := errors.AsType[imagegen.Violation](err); ok { // more images than were asked for
		return conflict, nil
	}
	if errors.Is(err, imagegen.ErrNotApplied) && !errors.Is(err, context.Canceled) &&
		!errors.Is(err, storage.ErrStopped) {
		return notApplied, err
	}
	for sentinel, a := range map[error]answer{
		imagegen.ErrInsufficientCredits: insufficient,
		imagegen.ErrChargeConflict:      conflict,
		imagegen.ErrGrantConflict:       conflict,
		imagegen.ErrTransition:          conflict,
		imagegen.ErrChargeClosed:        closed,
		imagegen.ErrChargeRefused:       refused,
		imagegen.ErrNotFound:            unknown,
		imagegen.ErrStale:               unknown,
		imagegen.ErrNotApplied:          notApplied,
		storage.ErrStopped:              notApplied, // a read
	} {
		if errors.Is(err, sentinel) {
			return a, nil
		}
	}
	return done, err
}

func userOf(account int) imagegen.UserID { return imagegen.UserID(fmt.Sprint("user-", account)) }

func memberOf(account int) imagegen.UserID { return imagegen.UserID(fmt.Sprint("member-", account)) }

func keyOf(account int) imagegen.KeyID { return imagegen.KeyID(fmt.Sprint("key-", account)) }

var limits = imagegen.KeyLimits{Credits: mostMember}

// enrol gives an account a member, and a key on behalf of people by which the member asks.
func enrol(ctx context.Context, db database, account int) error {
	u, m, k := userOf(account), memberOf(account), keyOf(account)
	return errors.Join(
		db.CreateUser(ctx, imagegen.User{ID: u, Name: string(u)}),
		db.CreateMember(ctx, imagegen.User{ID: m, Name: string(m), Sponsor: u, Limits: limits}, 1),
		db.CreateKey(ctx, imagegen.Key{ID: k, User: u, Hash: sha256.Sum256([]byte(k)), Members: 1}))
}

// recordOf is a generation that costs the amount: that many images at one credit.
func recordOf(in input) imagegen.Record {
	r := imagegen.Record{
		Intent: imagegen.Intent{ID: imagegen.GenerationID(fmt.Sprintf("gen_%013d%013d", in.account, in.id)),
			User: userOf(in.account), Model: "fake-1", Prompt: "a fox in the snow", N: int(in.amount), Ratio: "1:1",
			Tier: imagegen.Tier1K, Price: 1, CreatedAt: time.Unix(1, 0)},
		Progress: imagegen.Progress{State: imagegen.StateCharging, Attempt: 1},
	}
	if ofMember(in.id) {
		r.User, r.Payer, r.KeyID = memberOf(in.account), userOf(in.account), keyOf(in.account)
	}
	return r
}

// outcomeOf is as many images as the amount says; nobody looks at their bytes here.
func outcomeOf(in input) imagegen.OutcomeChange {
	o := imagegen.OutcomeChange{At: time.Unix(2, 0)}
	r := recordOf(in)
	for n := range int(in.amount) {
		id := "image_" + strings.TrimPrefix(string(r.ID), "gen_") + fmt.Sprintf("%026d", n)
		o.Images = append(o.Images, imagegen.StoredImage{ID: imagegen.ImageID(id), Attempt: 1, MediaType: "image/png",
			Width: 8, Height: 8, Size: 8, CreatedAt: time.Unix(2, 0)})
	}
	if in.amount == 0 {
		o.Failure = &imagegen.Failure{}
	}
	return o
}
