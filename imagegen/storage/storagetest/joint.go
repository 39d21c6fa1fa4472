package storagetest

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

// Joint tests an [imagegen.TxStore] together with the ledger that it joins.
func Joint(t *testing.T, open func(t *testing.T) (imagegen.TxStore, imagegen.CreditAdmin)) {
	t.Run("Joins", func(t *testing.T) {
		promises.Expect(t, "Joint/Joins")
		testJoins(t, open)
	})
	for name, test := range map[string]func(*joint){
		"Create":                 testCreateCharged,
		"CreateTwice":            testCreateChargedTwice,
		"CreateReserved":         testCreateChargedReserved,
		"CreateInsufficient":     testCreateChargedInsufficient,
		"CreateCharging":         testCreateChargedCharging,
		"CreateForKey":           testCreateChargedForKey,
		"CreateRevokedRace":      testCreateRevokedRace,
		"CreateWithin":           testCreateWithin,
		"CreateAtOnce":           testCreateAtOnce,
		"CreateWithinRace":       testCreateWithinRace,
		"CreateAtOnceRace":       testCreateAtOnceRace,
		"CreateUnlimited":        testCreateUnlimited,
		"CreateForModels":        testCreateForModels,
		"CreateForMember":        testCreateForMember,
		"CreditsOrSponsor":       testCreditsOrSponsor,
		"CreateForSuspended":     testCreateForSuspended,
		"CreateForMembersRace":   testCreateForMembersRace,
		"CreateRace":             testCreateChargedRace,
		"CreateReservationRace":  testCreateChargedReservationRace,
		"Finish":                 testFinishSettled,
		"FinishTwice":            testFinishSettledTwice,
		"FinishSettling":         testFinishSettling,
		"FinishStale":            testFinishStale,
		"FinishUncharged":        testFinishUncharged,
		"FinishSettledElsewhere": testFinishSettledElsewhere,
		"FinishRace":             testFinishRace,
	} {
		t.Run(name, func(t *testing.T) {
			promises.Expect(t, "Joint/"+name)
			test(openJoint(t, open))
		})
	}
}

// joint is a TxStore under test, with its books. alice has ten credits and bob has none.
type joint struct {
	store
	imagegen.TxStore
	books imagegen.CreditAdmin
}

func openJoint(t *testing.T, open func(*testing.T) (imagegen.TxStore, imagegen.CreditAdmin)) *joint {
	s, books := open(t)
	j := &joint{store{t: t, is: is.New(t), Store: s}, s, books}
	_, err := books.Grant(t.Context(), imagegen.Grant{User: alice, Credits: 10})
	j.is.NoErr(err)
	t.Cleanup(func() {
		audit(t, s)
		usageIsJournals(t, books, alice, bob)
	})
	return j
}

// costs makes the record cost n × price.
func costs(n int, price imagegen.Credits) func(*imagegen.Record) {
	return func(r *imagegen.Record) { r.N, r.Price = n, price }
}

func (j *joint) createCharged(n int, change ...func(*imagegen.Record)) imagegen.Record {
	j.t.Helper()
	r, err := j.CreateCharged(j.t.Context(), recordNo(n, change...), aMinute)
	j.is.NoErr(err)
	return r
}

func (j *joint) finish(r imagegen.Record, o imagegen.OutcomeChange) imagegen.Record {
	j.t.Helper()
	j.putImages(r, o)
	got, err := j.FinishSettled(j.t.Context(), r.Fence(), o)
	j.is.NoErr(err)
	return got
}

// has checks what alice can spend, and what she spent or has held.
func (j *joint) has(credits imagegen.Credits) {
	j.t.Helper()
	b, err := j.books.Balance(j.t.Context(), alice)
	j.is.NoErr(err)
	j.is.Equal(b.Credits, credits)
}

func (j *joint) unwritten(id imagegen.GenerationID, err error) {
	j.t.Helper()
	j.is.True(imagegen.Definite(err))
	_, err = j.Generation(j.t.Context(), id)
	j.is.True(errors.Is(err, imagegen.ErrNotFound))
}

// metered is a ledger that must be asked: what it wraps is not charged behind its back.
type metered struct{ imagegen.CreditAdmin }

func testJoins(t *testing.T, open func(*testing.T) (imagegen.TxStore, imagegen.CreditAdmin)) {
	is := is.New(t)
	s, books := open(t)
	is.True(s.Joins(books))
	is.True(!s.Joins(metered{books}))
	is.True(!s.Joins(&metered{books}))
	is.True(!s.Joins(nil))
	_, others := open(t)
	is.True(!s.Joins(others))
}

func testCreateCharged(j *joint) {
	r := j.createCharged(1, async, costs(3, 2), withKey("k"))
	j.is.Equal(r.State, imagegen.StateQueued)
	j.stands(r)
	j.isListed(r)
	j.has(4)
	direct := j.createCharged(2, synchronous, costs(1, 4))
	j.is.Equal(direct.State, imagegen.StateProcessing)
	j.is.Equal(direct.Attempt, 1)
	j.stands(direct)
	j.has(0)
	rs := j.claim(10)
	j.is.Equal(diff([]imagegen.GenerationID{r.ID}, idsOf(rs)), "")
}

func testCreateChargedTwice(j *joint) {
	for range 2 {
		first := j.createCharged(1, async, withKey("k"), costs(2, 1))
		j.stands(first)
		j.has(8)
	}
	claimed := j.claim(1)[0]
	j.is.Equal(diff(claimed, j.createCharged(1, async, withKey("k"), costs(2, 1))), "")
	done := j.finish(claimed, imagesOf(claimed, 1))
	j.is.Equal(diff(done, j.createCharged(1, async, withKey("k"), costs(2, 1))), "")
	j.has(9)
}

func testCreateChargedReserved(j *joint) {
	first := j.createCharged(1, async, withKey("k"), costs(2, 1))
	_, err := j.CreateCharged(j.t.Context(), recordNo(2, withKey("k")), aMinute)
	held, ok := errors.AsType[*imagegen.IdempotencyKeyTakenError](err)
	j.is.True(ok)
	j.is.Equal(diff(first, held.Record), "")
	j.unwritten(generationNo(2), err)
	j.has(8)
}

func testCreateChargedInsufficient(j *joint) {
	for _, r := range []imagegen.Record{
		recordNo(1, synchronous, withKey("k"), costs(1, 11)),
		recordNo(1, synchronous, withKey("k"), costs(1, 1), of(bob)),
		recordNo(1, synchronous, withKey("k"), costs(4, imagegen.MaxCredits/4)),
	} {
		_, err := j.CreateCharged(j.t.Context(), r, aMinute)
		j.is.True(errors.Is(err, imagegen.ErrInsufficientCredits))
		j.unwritten(r.ID, err)
		_, err = j.GenerationByIdempotencyKey(j.t.Context(), r.User, "k")
		j.is.True(errors.Is(err, imagegen.ErrNotFound))
		j.has(10)
	}
	j.createCharged(1, synchronous, withKey("k"), costs(1, 10)) // no trace of the refusal
}

// An intent that stands, from a Create, is charged and accepted.
func testCreateChargedCharging(j *joint) {
	j.create(1, async, costs(2, 1))
	r := j.createCharged(1, async, costs(2, 1))
	j.is.Equal(r.State, imagegen.StateQueued)
	j.stands(r)
	j.has(8)

	j.create(2, async)
	j.update(recordNo(2), imagegen.RecoverChange{})
	_, err := j.CreateCharged(j.t.Context(), recordNo(2, async), aMinute)
	j.is.True(errors.Is(err, imagegen.ErrStale)) // recovery is about to void it
	j.has(8)
}

// Of many that race for the last credits, as many get through as there are credits.
func testCreateChargedRace(j *joint) {
	const callers = 32
	var (
		wg               sync.WaitGroup
		charged, refused atomic.Int32
	)
	for n := range callers {
		wg.Go(func() {
			_, err := j.CreateCharged(j.t.Context(), recordNo(n+1, synchronous, costs(1, 1)), aMinute)
			switch {
			case err == nil:
				charged.Add(1)
			case errors.Is(err, imagegen.ErrInsufficientCredits):
				refused.Add(1)
			}
		})
	}
	wg.Wait()
	j.is.Equal(charged.Load(), int32(10))
	j.is.Equal(refused.Load(), int32(callers-10))
	j.has(0)
}

// Of several that race for an idempotency key, one is charged, and the others learn which.
func testCreateChargedReservationRace(j *joint) {
	const callers = 32
	var (
		wg      sync.WaitGroup
		charged atomic.Int32
		holders [callers]imagegen.GenerationID
	)
	for n := range callers {
		wg.Go(func() {
			r, err := j.CreateCharged(j.t.Context(), recordNo(n+1, withKey("k"), async, costs(1, 1)), aMinute)
			if held, ok := errors.AsType[*imagegen.IdempotencyKeyTakenError](err); ok {
				r = held.Record
			} else if err == nil {
				charged.Add(1)
			}
			holders[n] = r.ID
		})
	}
	wg.Wait()
	j.is.Equal(charged.Load(), int32(1))
	j.has(9)
	for _, id := range holders {
		j.is.Equal(id, holders[0])
	}
}
