package storagetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

// FeedStore is a storage that keeps a feed, with its own ledger.
type FeedStore interface {
	imagegen.TxStore
	imagegen.CreditAdmin
	imagegen.FeedKeeper
	imagegen.Timekeeper
}

// Feed tests an [imagegen.FeedKeeper]. open returns a new, empty storage; now is its clock.
func Feed(t *testing.T, open func(t *testing.T, now func() time.Time) FeedStore) {
	for name, test := range map[string]func(*fed){
		"Off":      testFeedOff,
		"Kinds":    testFeedKinds,
		"Repeated": testFeedRepeated,
		"Low":      testFeedLow,
		"Order":    testFeedOrder,
		"Alone":    testFeedAlone,
		"Tidied":   testFeedTidied,
		"End":      testFeedEnd,
		"Places":   testFeedPlaces,
		"Replayed": testFeedReplayed,
		"Race":     testFeedRace,
	} {
		t.Run(name, func(t *testing.T) {
			promises.Expect(t, "Feed/"+name)
			f := &fed{t: t, is: is.New(t), clock: time.Now().UTC().Truncate(time.Millisecond)}
			f.FeedStore = open(t, f.now)
			test(f)
			audit(t, f.FeedStore)
		})
	}
}

// fed is a storage under test, with its clock.
type fed struct {
	FeedStore
	t  *testing.T
	is *is.I

	mu    sync.Mutex // guards clock
	clock time.Time
}

func (f *fed) keep(keep bool) {
	f.t.Helper()
	f.is.NoErr(f.KeepFeed(f.t.Context(), keep))
}

func (f *fed) now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.clock
}

// pass lets time pass in steps that the storage does not take for leaps of a clock.
func (f *fed) pass(d time.Duration) {
	for ; d > 0; d -= 20 * time.Minute {
		f.mu.Lock()
		f.clock = f.clock.Add(min(d, 20*time.Minute))
		f.mu.Unlock()
		f.Now()
	}
}

// read returns all events behind a place.
func (f *fed) read(after uint64) []imagegen.FeedEvent {
	f.t.Helper()
	all, err := f.Feed(f.t.Context(), after, 1<<20)
	f.is.NoErr(err)
	return all
}

// brought compares what has happened behind a place with what is wanted, and returns the new place.
func (f *fed) brought(after uint64, want ...imagegen.FeedEvent) uint64 {
	f.t.Helper()
	got := f.read(after)
	f.is.Equal(cmp.Diff(want, got, cmpopts.IgnoreFields(imagegen.FeedEvent{}, "Number", "ID", "Time")), "")
	if len(got) == 0 {
		return after
	}
	return got[len(got)-1].Number
}

func (f *fed) grant(u imagegen.UserID, credits imagegen.Credits, change ...func(*imagegen.Grant)) {
	f.t.Helper()
	g := imagegen.Grant{User: u, Credits: credits}
	for _, c := range change {
		c(&g)
	}
	_, err := f.Grant(f.t.Context(), g)
	f.is.NoErr(err)
}

func (f *fed) accept(n int, change ...func(*imagegen.Record)) imagegen.Record {
	f.t.Helper()
	r, err := f.CreateCharged(f.t.Context(), recordNo(n, change...), aMinute)
	f.is.NoErr(err)
	return r
}

func (f *fed) finish(r imagegen.Record, o imagegen.OutcomeChange) {
	f.t.Helper()
	(&store{t: f.t, is: f.is, Store: f.FeedStore}).putImages(r, o)
	_, err := f.FinishSettled(f.t.Context(), r.Fence(), o)
	f.is.NoErr(err)
}

func (f *fed) update(r imagegen.Record, c imagegen.Change) {
	f.t.Helper()
	_, err := f.Update(f.t.Context(), r.Fence(), c)
	f.is.NoErr(err)
}

// Nothing is written before somebody asks for it, nor afterwards.
func testFeedOff(f *fed) {
	f.grant(alice, 10)
	f.finish(f.accept(1, synchronous), refused(recordNo(1)))
	f.brought(0)
	f.keep(true)
	f.brought(0)
	f.grant(alice, 1)
	f.keep(false)
	f.grant(alice, 1)
	f.brought(0, imagegen.FeedEvent{Kind: imagegen.FeedGranted, User: alice, Credits: 1, Balance: 11})
}

// Each kind of event says what it is about.
func testFeedKinds(f *fed) {
	ctx := f.t.Context()
	f.keep(true)
	f.is.NoErr(f.CreateUser(ctx, imagegen.User{ID: alice, Name: "alice"}))
	f.is.NoErr(f.CreateUser(ctx, imagegen.User{ID: bob, Name: "bob"}))
	f.is.NoErr(f.CreateKey(ctx, imagegen.Key{ID: "key_1", User: alice, Hash: [32]byte{1}}))
	f.grant(alice, 20, func(g *imagegen.Grant) { g.Ref, g.Expires = "order 1", f.now().Add(time.Hour) })
	_, err := f.Revoke(ctx, imagegen.Revocation{User: alice, Credits: 2, Ref: "order 1, returned"})
	f.is.NoErr(err)
	place := f.brought(0,
		imagegen.FeedEvent{Kind: imagegen.FeedUserCreated, User: alice},
		imagegen.FeedEvent{Kind: imagegen.FeedUserCreated, User: bob},
		imagegen.FeedEvent{Kind: imagegen.FeedKeyCreated, User: alice, Key: "key_1"},
		imagegen.FeedEvent{Kind: imagegen.FeedGranted, User: alice, Credits: 20, Balance: 20, Ref: "order 1"},
		imagegen.FeedEvent{Kind: imagegen.FeedRevoked, User: alice, Credits: -2, Balance: 18, Ref: "order 1, returned"})

	about := func(n int, kind imagegen.FeedKind, images int, credits imagegen.Credits) imagegen.FeedEvent {
		return imagegen.FeedEvent{Kind: kind, User: alice, Generation: generationNo(n), Key: "key_1", Model: "fake-1",
			Images: images, Credits: credits}
	}
	withID := func(r *imagegen.Record) { r.KeyID = "key_1" }
	made := f.accept(1, synchronous, withID)
	f.finish(made, imagesOf(made, 2))
	failed := f.accept(2, synchronous, withID)
	f.finish(failed, refused(failed))
	cancelled := f.accept(3, async, withID)
	f.finish(cancelled, imagegen.OutcomeChange{At: f.now(), Cancelled: true,
		Failure: &imagegen.Failure{Class: imagegen.ClassCancelled}})
	f.update(made, imagegen.EraseChange{})
	f.update(made, imagegen.PurgeChange{})
	why := about(2, imagegen.FeedFailed, 0, 6)
	why.Reason = "refused"
	erased := about(1, imagegen.FeedErased, 0, 0)
	place = f.brought(place, about(1, imagegen.FeedAccepted, 3, -6), about(1, imagegen.FeedSucceeded, 2, 2),
		about(2, imagegen.FeedAccepted, 3, -6), why, about(3, imagegen.FeedAccepted, 3, -6),
		about(3, imagegen.FeedCancelled, 0, 6), erased)

	f.is.NoErr(f.SetSponsor(ctx, bob, alice, imagegen.KeyLimits{}))
	f.accept(4, of(bob), synchronous, func(r *imagegen.Record) { r.Payer = alice })
	f.pass(2 * time.Hour)
	f.grant(alice, 1)
	_, err = f.RevokeKey(ctx, "key_1", f.now())
	f.is.NoErr(err)
	f.is.NoErr(f.SuspendUser(ctx, bob, f.now()))
	f.is.NoErr(f.DisableUser(ctx, bob, f.now()))
	member := about(4, imagegen.FeedAccepted, 3, -6)
	member.User, member.Payer, member.Key = bob, alice, ""
	f.brought(place, member, imagegen.FeedEvent{Kind: imagegen.FeedExpired, User: alice, Credits: -8},
		imagegen.FeedEvent{Kind: imagegen.FeedGranted, User: alice, Credits: 1, Balance: 1},
		imagegen.FeedEvent{Kind: imagegen.FeedKeyRevoked, User: alice, Key: "key_1"},
		imagegen.FeedEvent{Kind: imagegen.FeedUserSuspended, User: bob},
		imagegen.FeedEvent{Kind: imagegen.FeedUserDisabled, User: bob})
}

// What is refused leaves no event, and what is repeated leaves one.
func testFeedRepeated(f *fed) {
	ctx := f.t.Context()
	f.keep(true)
	for range 2 {
		f.grant(alice, 10, func(g *imagegen.Grant) { g.Ref = "order 1" })
		r := f.accept(1, synchronous)
		f.finish(r, imagesOf(r, 3))
	}
	_, err := f.CreateCharged(ctx, recordNo(2, synchronous), aMinute)
	f.is.True(errors.Is(err, imagegen.ErrInsufficientCredits))
	_, err = f.Revoke(ctx, imagegen.Revocation{User: alice, Credits: 100})
	f.is.True(errors.Is(err, imagegen.ErrInsufficientCredits))
	f.is.True(errors.Is(f.SuspendUser(ctx, "nobody", f.now()), imagegen.ErrNotFound))
	all := f.read(0)
	f.is.Equal(len(all), 3)
	f.is.Equal(all, f.read(0)) // another reader finds the same
	for n, e := range all {
		one, err := f.Feed(ctx, e.Number-1, 1)
		f.is.NoErr(err)
		f.is.Equal(cmp.Diff(all[n:n+1], one), "")
	}
}

// A balance that falls below the amount has one event, until it was above again.
func testFeedLow(f *fed) {
	ctx := f.t.Context()
	f.is.NoErr(f.CreateUser(ctx, imagegen.User{ID: alice, Name: "alice"}))
	f.is.True(errors.Is(f.SetNotifyBelow(ctx, "nobody", 1), imagegen.ErrNotFound))
	f.is.True(errors.Is(f.SetNotifyBelow(ctx, alice, -1), imagegen.ErrInvalidRequest))
	f.is.NoErr(f.SetNotifyBelow(ctx, alice, 10))
	u, err := f.User(ctx, alice)
	f.is.NoErr(err)
	f.is.Equal(u.NotifyBelow, imagegen.Credits(10))
	f.keep(true)
	low := func() (all []imagegen.Credits) {
		for _, e := range f.read(0) {
			if e.Kind == imagegen.FeedLow {
				f.is.Equal(e.Below, imagegen.Credits(10))
				all = append(all, e.Balance)
			}
		}
		return all
	}
	f.grant(alice, 16)
	f.accept(1, synchronous)
	f.is.Equal(len(low()), 0) // 10 are not below 10
	f.accept(2, synchronous, costs(1, 1))
	f.accept(3, synchronous, costs(1, 1))
	f.is.Equal(low(), []imagegen.Credits{9})
	f.grant(alice, 2)
	_, err = f.Revoke(ctx, imagegen.Revocation{User: alice, Credits: 7})
	f.is.NoErr(err)
	f.is.Equal(low(), []imagegen.Credits{9, 3})
	f.is.NoErr(f.SetNotifyBelow(ctx, alice, 0))
	f.grant(alice, 10)
	f.accept(4, synchronous)
	f.is.Equal(len(low()), 2)
}

// What happens to an account in one commit comes in its order: its credits expire, are few, and more are granted.
func testFeedOrder(f *fed) {
	f.is.NoErr(f.CreateUser(f.t.Context(), imagegen.User{ID: alice, Name: "alice"}))
	f.is.NoErr(f.SetNotifyBelow(f.t.Context(), alice, 10))
	f.grant(alice, 20, func(g *imagegen.Grant) { g.Expires = f.now().Add(time.Hour) })
	f.pass(2 * time.Hour)
	f.keep(true)
	f.grant(alice, 12)
	place := f.brought(0, imagegen.FeedEvent{Kind: imagegen.FeedExpired, User: alice, Credits: -20},
		imagegen.FeedEvent{Kind: imagegen.FeedLow, User: alice, Below: 10},
		imagegen.FeedEvent{Kind: imagegen.FeedGranted, User: alice, Credits: 12, Balance: 12})
	f.accept(1, synchronous)
	f.brought(place, imagegen.FeedEvent{Kind: imagegen.FeedLow, User: alice, Balance: 6, Below: 10},
		imagegen.FeedEvent{Kind: imagegen.FeedAccepted, User: alice, Generation: generationNo(1), Model: "fake-1",
			Images: 3, Credits: -6})
}

// The end is behind what has happened, also where that was removed or nothing has, and before all that follows.
func testFeedEnd(f *fed) {
	f.keep(true)
	end := func() uint64 {
		f.t.Helper()
		end, err := f.FeedEnd(f.t.Context())
		f.is.NoErr(err)
		return end
	}
	before := end()
	f.is.True(before != 0)
	f.grant(alice, 1)
	all := f.read(before)
	f.is.Equal(len(all), 1)
	f.grant(alice, 1)
	after := end() // before anybody has read it
	f.brought(after)
	f.is.Equal(f.read(all[0].Number)[0].Number, after)
	f.is.NoErr(f.TidyFeed(f.t.Context(), 0))
	f.is.Equal(end(), after)
	f.pass(time.Hour)
	f.is.Equal(end(), after)
}

// What follows from no commit is written by itself, with all that it says.
func testFeedAlone(f *fed) {
	ctx := f.t.Context()
	limit := imagegen.FeedEvent{Kind: imagegen.FeedLimit, User: bob, Payer: alice, Key: "key_1", Limit: 5,
		Period: "2026-01"}
	cost := imagegen.FeedEvent{Kind: imagegen.FeedCost, Period: "2026-01-31", Cost: 10_500_000, Above: 10_000_000}
	f.is.NoErr(f.Tell(ctx, limit))
	f.brought(0)
	f.keep(true)
	f.is.NoErr(f.Tell(ctx, limit))
	f.is.NoErr(f.Tell(ctx, cost))
	f.brought(0, limit, cost)
	all := f.read(0)
	f.is.True(all[0].ID != all[1].ID)
	f.is.True(f.now().Sub(all[0].Time).Abs() < time.Minute)
}

// A reader whose place was removed hears of it; one that begins anew, or was ahead, does not.
func testFeedTidied(f *fed) {
	ctx := f.t.Context()
	f.keep(true)
	for n := range 3 {
		f.grant(alice, imagegen.Credits(n+1))
		f.pass(time.Hour)
	}
	before := f.read(0)
	f.is.Equal(len(before), 3)
	f.is.NoErr(f.TidyFeed(ctx, 4*time.Hour))
	f.is.Equal(cmp.Diff(before, f.read(0)), "")
	f.is.NoErr(f.TidyFeed(ctx, 2*time.Hour))
	f.is.Equal(cmp.Diff(before[2:], f.read(0)), "")
	f.is.Equal(cmp.Diff(before[2:], f.read(before[1].Number)), "")
	lost := f.read(before[0].Number)
	f.is.Equal(len(lost), 2)
	f.is.Equal(lost[0].Kind, imagegen.FeedLost)
	f.is.Equal(lost[0].From, before[0].Number+1)
	f.is.Equal(lost[0].To, before[1].Number)
	f.is.Equal(lost[0].Number, before[1].Number)
	f.is.NoErr(f.TidyFeed(ctx, 0))
	f.brought(before[2].Number)
	f.grant(alice, 1)
	f.is.True(f.read(0)[0].Number > before[2].Number) // numbers go on
}

// A place is what was set last, for each reader, by who knew the one before it.
func testFeedPlaces(f *fed) {
	at := f.now()
	mail, first := imagegen.FeedPlace{Reader: "mail", Number: 9}, imagegen.FeedPlace{Reader: "shop", Number: 7}
	last := imagegen.FeedPlace{Reader: "shop", Number: 1 << 50, Event: "evt_1", Tries: 2, Since: at,
		At: at.Add(time.Minute), Status: 500, Answer: "no"}
	set := func(from, to imagegen.FeedPlace, want bool) {
		f.t.Helper()
		set, err := f.SetFeedPlace(f.t.Context(), from, to)
		f.is.NoErr(err)
		f.is.Equal(set, want)
	}
	set(first, last, false)
	set(imagegen.FeedPlace{}, first, true)
	set(imagegen.FeedPlace{}, mail, true)
	set(imagegen.FeedPlace{}, last, false)
	set(first, last, true)
	for _, stale := range []imagegen.FeedPlace{{}, first, {Reader: "shop", Number: 1 << 50},
		{Reader: "shop", Number: 1 << 50, Tries: 2, At: at}} {
		set(stale, first, false)
	}
	places, err := f.FeedPlaces(f.t.Context())
	f.is.NoErr(err)
	slices.SortFunc(places, func(a, b imagegen.FeedPlace) int { return strings.Compare(a.Reader, b.Reader) })
	f.is.Equal(cmp.Diff([]imagegen.FeedPlace{mail, last}, places), "")
	set(places[1], first, true) // as it was read
}

// check compares what follows from the feed with what the storage has.
func (f *fed) check(users ...imagegen.UserID) {
	f.t.Helper()
	Fed{f, f, users, func(ok bool, format string, args ...any) {
		f.t.Helper()
		if !ok {
			f.t.Errorf(format, args...)
		}
	}}.Compare(f.t.Context(), f.read(0))
}

// Whatever happens, the feed replayed gives every balance and every state.
func testFeedReplayed(f *fed) {
	ctx := f.t.Context()
	f.keep(true)
	f.is.NoErr(f.CreateUser(ctx, imagegen.User{ID: alice, Name: "alice", NotifyBelow: 20}))
	r := rand.New(rand.NewPCG(rand.Uint64(), 0))
	var open, ended []imagegen.Record
	for n := range 200 {
		f.pass(time.Duration(r.Int64N(int64(15 * time.Minute))))
		switch r.IntN(8) {
		case 0, 1:
			f.grant(alice, imagegen.Credits(1+r.IntN(30)), func(g *imagegen.Grant) {
				if r.IntN(2) == 0 {
					g.Expires = f.now().Add(time.Duration(1+r.IntN(90)) * time.Minute)
				}
			})
		case 2:
			_, err := f.Revoke(ctx, imagegen.Revocation{User: alice, Credits: imagegen.Credits(1 + r.IntN(10))})
			f.is.True(err == nil || errors.Is(err, imagegen.ErrInsufficientCredits))
		case 3, 4:
			kind := synchronous
			if r.IntN(2) == 0 {
				kind = async
			}
			made, err := f.CreateCharged(ctx, recordNo(n, kind, costs(1+r.IntN(4), 2)), time.Hour)
			f.is.True(err == nil || errors.Is(err, imagegen.ErrInsufficientCredits))
			if err == nil {
				open = append(open, made)
			}
		case 5, 6:
			if len(open) == 0 {
				continue
			}
			g := open[0]
			open, ended = open[1:], append(ended, g)
			o := imagesOf(g, r.IntN(g.N)+1)
			if g.Async {
				o = imagegen.OutcomeChange{At: f.now(), Cancelled: true,
					Failure: &imagegen.Failure{Class: imagegen.ClassCancelled}}
			} else if r.IntN(3) == 0 {
				o = refused(g)
			}
			f.finish(g, o)
		case 7:
			if len(ended) > 0 {
				f.update(ended[0], imagegen.EraseChange{})
				f.update(ended[0], imagegen.PurgeChange{})
				ended = ended[1:]
			}
		}
		if n%20 == 0 {
			f.check(alice)
		}
	}
	f.check(alice)
}

// Readers beside many writers get every event once, in the order of numbers, each by the same identifier.
func testFeedRace(f *fed) {
	f.keep(true)
	const writers, each = 8, 12
	var writing, reading sync.WaitGroup
	done := make(chan struct{})
	read := make([][]imagegen.FeedEvent, 3)
	for n := range read {
		reading.Go(func() {
			for last := false; ; {
				after := uint64(0)
				if len(read[n]) > 0 {
					after = read[n][len(read[n])-1].Number
				}
				more, err := f.Feed(context.Background(), after, 5)
				if err != nil {
					f.t.Error(err)
					return
				}
				read[n] = append(read[n], more...)
				select {
				case <-done:
					if last && len(more) == 0 {
						return
					}
					last = true
				default:
				}
			}
		})
	}
	for w := range writers {
		writing.Go(func() {
			u := imagegen.UserID(fmt.Sprint("usr_", w))
			for n := range each {
				if _, err := f.Grant(context.Background(), imagegen.Grant{User: u, Credits: 10}); err != nil {
					f.t.Error(err)
				}
				r := recordNo(100*w+n, of(u), synchronous)
				if _, err := f.CreateCharged(context.Background(), r, time.Hour); err != nil {
					f.t.Error(err)
				}
			}
		})
	}
	writing.Wait()
	close(done)
	reading.Wait()
	all := f.read(0)
	f.is.Equal(len(all), writers*each*2)
	for n := range read {
		f.is.Equal(cmp.Diff(all, read[n]), "")
	}
	for w := range writers {
		f.check(imagegen.UserID(fmt.Sprint("usr_", w)))
	}
}

// BenchmarkFeed charges and settles b.N generations, by 16 callers for 16 users, with a feed or without.
func BenchmarkFeed(b *testing.B, s interface {
	imagegen.TxStore
	imagegen.CreditAdmin
	imagegen.FeedKeeper
}, keep bool) {
	ctx := context.Background()
	if err := s.KeepFeed(ctx, keep); err != nil {
		b.Fatal(err)
	}
	const callers = 16
	user := func(n int) imagegen.UserID { return imagegen.UserID(fmt.Sprint("usr_", n%callers)) }
	for n := range callers {
		if _, err := s.Grant(ctx, imagegen.Grant{User: user(n), Credits: 1 << 40}); err != nil {
			b.Fatal(err)
		}
	}
	b.ResetTimer()
	var done sync.WaitGroup
	for c := range callers {
		done.Go(func() {
			for n := c; n < b.N; n += callers {
				r, err := s.CreateCharged(ctx, recordNo(n, of(user(n)), synchronous), time.Hour)
				if err == nil {
					_, err = s.FinishSettled(ctx, r.Fence(), refused(r))
				}
				if err != nil {
					b.Error(err)
				}
			}
		})
	}
	done.Wait()
}
