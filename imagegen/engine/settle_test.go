package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// faulty is an engine whose parts fail, over a storage that does not.
type faulty struct {
	*harness
	faults
}

// Each failure counts, unless a test wants it otherwise: that most do not is what TestLedgerIsAskedAgain says.
func startFaulty(t *testing.T, p imagegen.Provider, change ...func(*engine.Config)) *faulty {
	f := &faulty{}
	f.harness = start(t, p, append([]func(*engine.Config){withTries(1)}, append(change, f.use)...)...)
	return f
}

// update changes a record behind the engine's back, as another process would.
func (f *faulty) update(by imagegen.Fence, c imagegen.Change) {
	_, err := f.db.Update(context.Background(), by, c)
	if _, claim := c.(imagegen.ClaimChange); claim && errors.Is(err, imagegen.ErrStale) {
		return // this one's own dispatcher was faster
	}
	f.is.NoErr(err)
}

// all are the generations that the storage has.
func (f *faulty) all() []imagegen.Record {
	rs, _, err := f.db.Generations(context.Background(), alice, imagegen.Query{})
	f.is.NoErr(err)
	return rs
}

// settled waits until recovery has had its time, and checks that everything came to an end: who
// has no image has paid nothing, who has one has paid for it, and nothing is held.
func (f *faulty) settled() []imagegen.Record {
	f.Helper()
	time.Sleep(10 * time.Minute)
	synctest.Wait()
	rs := f.all()
	spent := imagegen.Credits(0)
	for _, r := range rs {
		f.is.True(r.Terminal())
		spent += r.Used()
	}
	f.is.Equal(f.balance(), 100-spent)
	f.audit()
	return rs
}

// Whatever step of a charge or a settlement fails, is in doubt, or is overtaken, the generation ends
// with its charge, and the caller learns nothing that turns out to be wrong.
func TestEveryStepMayFail(t *testing.T) {
	type answer int
	const (
		image   answer = iota
		nothing        // overloaded: nothing was charged
		unknown
	)
	const gone, failed, succeeded = imagegen.StateGone, imagegen.StateFailed, imagegen.StateSucceeded
	none := imagegen.ErrNotApplied
	for name, test := range map[string]struct {
		before, after fault
		overtake      []imagegen.Change // by another process, before the first AcceptChange
		async         bool
		gets          answer
		end           imagegen.State
	}{
		"intent not written":    {before: first(1, "Create", none), gets: nothing, end: gone},
		"intent in doubt":       {after: first(1, "Create", errDoubt), end: succeeded},
		"charge in doubt, made": {after: first(1, "Charge", errDoubt), gets: nothing, end: gone},
		"charge in doubt, open": {after: first(1, "Charge", errDoubt), before: first(1, "Settle",
			errDoubt), gets: unknown, end: gone},
		"charge in doubt for long": {after: first(1, "Charge", errDoubt), before: first(3, "Settle",
			errDoubt), gets: unknown, end: gone},
		"void in doubt": {before: first(1, "Charge", errDoubt), after: first(1, "Settle",
			errDoubt), gets: unknown, end: gone},
		"intent not forgotten": {before: failing(first(1, "Charge", errDoubt),
			first(1, "Abandon", none)), gets: unknown, end: gone},
		"acceptance not written":       {before: first(1, "Accept", none), gets: nothing, end: gone},
		"acceptance in doubt":          {after: first(1, "Accept", errDoubt), end: succeeded},
		"acceptance in doubt for long": {before: first(4, "Accept", errDoubt), gets: unknown, end: gone},
		"acceptance in doubt, not repeatable": {after: first(1, "Accept", errDoubt), before: calls(2, 2, "Accept",
			none),
			gets: unknown, end: failed},
		"recovery takes the intent": {overtake: []imagegen.Change{imagegen.RecoverChange{}}, gets: nothing,
			end: gone},
		"recovery takes the attempt": {overtake: []imagegen.Change{imagegen.AcceptChange{},
			imagegen.RecoverChange{}}, gets: unknown, end: failed},
		"another claims it": {overtake: []imagegen.Change{imagegen.AcceptChange{},
			imagegen.ClaimChange{}}, async: true, end: succeeded},
		"payer unread":                  {before: calls(1, 1, "User", none), gets: nothing, end: gone},
		"account type unknown":          {before: calls(2, 2, "User", errDoubt), end: succeeded},
		"account type unread":           {before: calls(2, 2, "User", none), end: succeeded},
		"account type unknown for long": {before: calls(2, 5, "User", errDoubt), gets: unknown, end: failed},
		"outcome not written":           {before: first(1, "Outcome", none), end: succeeded},
		"outcome in doubt, then not written": {before: failing(first(1, "Outcome", errDoubt),
			first(3, "Outcome", none)), end: succeeded},
		"outcome not written for long":       {before: first(4, "Outcome", none), gets: unknown, end: failed},
		"outcome in doubt":                   {after: first(1, "Outcome", errDoubt), end: succeeded},
		"settlement in doubt, made":          {after: first(1, "Settle", errDoubt), gets: unknown, end: succeeded},
		"settlement in doubt, open":          {before: first(2, "Settle", errDoubt), gets: unknown, end: succeeded},
		"balance unknown":                    {before: first(1, "Balance", errDoubt), gets: unknown, end: succeeded},
		"account type of the answer unknown": {before: calls(3, 3, "User", errDoubt), end: succeeded},
		"account type of the answer unknown for long": {before: calls(3, 6, "User", errDoubt), gets: unknown,
			end: succeeded},
		"end not written":          {before: first(1, "Close", none), end: succeeded},
		"end not written for long": {before: first(4, "Close", none), gets: unknown, end: succeeded},
		"end in doubt":             {after: first(1, "Close", errDoubt), end: succeeded},
		"recovery fails at first": {before: failing(first(4, "Outcome", none),
			first(2, "Recover", errDoubt)), gets: unknown, end: failed},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is := is.New(t)
				f := startFaulty(t, yieldImages(1, nil))
				f.failAfter(test.after)
				f.failBefore(func(call string, n int, by imagegen.Fence) error {
					if call == "Accept" && n == 1 {
						for _, c := range test.overtake {
							f.update(by, c)
						}
					}
					if test.before != nil {
						return test.before(call, n, by)
					}
					return nil
				})
				result, err := f.generate(imagegen.GenerateRequest{Async: test.async})
				switch test.gets {
				case image:
					is.NoErr(err)
					is.Equal(test.end, succeeded)
				case nothing:
					is.True(isCode(err, imagegen.ErrOverloaded))
					is.Equal(test.end, gone)
				case unknown:
					is.True(isCode(err, imagegen.ErrInternal))
				}
				if test.gets == image && !test.async {
					is.Equal(len(result.Generation.Images), 1)
				}
				rs := f.settled()
				if test.end == gone {
					is.Equal(len(rs), 0)
					return
				}
				is.Equal(len(rs), 1)
				is.Equal(rs[0].State, test.end)
			})
		})
	}
}

// failing fails where any of several does.
func failing(fs ...fault) fault {
	return func(call string, n int, by imagegen.Fence) error {
		for _, f := range fs {
			if err := f(call, n, by); err != nil {
				return err
			}
		}
		return nil
	}
}

// calls fails the calls of one kind from one to another.
func calls(from, to int, call string, err error) fault {
	return func(c string, n int, _ imagegen.Fence) error {
		if c == call && n >= from && n <= to {
			return err
		}
		return nil
	}
}

// An erasure that could not remove the files is finished by recovery.
func TestHalfAnErasure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startFaulty(t, yieldImages(1, nil))
		result, err := f.generate(imagegen.GenerateRequest{})
		f.is.NoErr(err)
		f.failBefore(first(1, "RemoveImages", errDoubt))
		f.is.True(isCode(f.engine.Erase(t.Context(), result.Generation.ID), imagegen.ErrOverloaded))
		_, err = f.engine.As(alice).Generation(t.Context(), result.Generation.ID)
		f.is.True(isCode(err, imagegen.ErrNotFound)) // to its owner it is gone at once
		f.is.True(f.keeps(result.Generation))
		time.Sleep(time.Minute)
		f.is.True(!f.keeps(result.Generation))
		r, err := f.db.Generation(t.Context(), result.Generation.ID)
		f.is.NoErr(err)
		f.is.Equal(r.State, imagegen.StateErased)
		f.audit()
	})
}

// keeps reports whether the storage still has the bytes of a generation's first image, of its first attempt.
func (f *faulty) keeps(g imagegen.Generation) bool {
	return f.has(imagegen.ImageKey{Generation: g.ID, Attempt: 1, Image: g.Images[0].ID})
}

func (f *faulty) has(k imagegen.ImageKey) bool {
	image, err := f.db.OpenImage(context.Background(), k)
	if err == nil {
		image.Close()
	}
	f.is.True(err == nil || errors.Is(err, imagegen.ErrNotFound))
	return err == nil
}

// mute is an outside ledger that settles and then tells no balance.
type mute struct{ imagegen.Ledger }

func (mute) Balance(context.Context, imagegen.UserID) (imagegen.Balance, error) {
	return imagegen.Balance{}, imagegen.ErrNotApplied
}

// A caller who was charged never gets an error that means that nothing was, not even as a cause.
func TestAnUnknownOutcomeIsNoRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, yieldImages(1, nil), func(c *engine.Config) { c.Ledger = mute{c.Ledger} })
		_, err := h.generate(imagegen.GenerateRequest{})
		h.is.True(isCode(err, imagegen.ErrInternal))
		h.is.True(!errors.Is(err, imagegen.ErrOverloaded))
		h.is.True(!imagegen.Definite(err))
	})
}
