package engine_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// slowly makes one image in the given time.
func slowly(d time.Duration) *scripted {
	return &scripted{caps: anything,
		do: func(ctx context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
			select {
			case <-time.After(d):
				yield(picture(1024, 1024), nil)
			case <-ctx.Done():
				yield(imagegen.ProviderImage{}, ctx.Err())
			}
		}}
}

// joining tests calls that may join, on a ledger in the store's transactions and on one outside.
func joining(t *testing.T, p func() imagegen.Provider, test func(h *joiner)) {
	eachLedger(t, func(t *testing.T, option func(*engine.Config)) {
		synctest.Test(t, func(t *testing.T) {
			h := &joiner{start(t, p(), option)}
			test(h)
			synctest.Wait()
			h.audit()
		})
	})
}

type joiner struct{ *harness }

// call makes a call whose caller has patience for so long; then it hangs up.
func (h *joiner) call(patience time.Duration, change ...func(*imagegen.GenerateRequest)) (imagegen.Result, error) {
	h.Helper()
	q := imagegen.GenerateRequest{Join: &imagegen.JoinOptions{}}
	for _, c := range change {
		c(&q)
	}
	ctx, cancel := context.WithTimeout(h.Context(), patience)
	defer cancel()
	return h.engine.As(alice).Generate(ctx, fox(q))
}

// hangsUp makes a call whose caller does not wait for the answer.
func (h *joiner) hangsUp(change ...func(*imagegen.GenerateRequest)) {
	h.Helper()
	_, err := h.call(time.Second, change...)
	h.is.True(errors.Is(err, context.DeadlineExceeded))
}

// answers makes a call that waits for its answer and receives it.
func (h *joiner) answers(change ...func(*imagegen.GenerateRequest)) imagegen.Result {
	h.Helper()
	r, err := h.call(time.Hour, change...)
	h.is.NoErr(err)
	h.engine.As(alice).ReportDelivery(r.ID, true)
	return r
}

func retry(q *imagegen.GenerateRequest) { q.Join.Retry = true }

func (h *joiner) made() int {
	h.Helper()
	p, err := h.engine.As(alice).Generations(h.Context(), imagegen.Query{Limit: imagegen.MaxPageSize})
	h.is.NoErr(err)
	return len(p.Generations)
}

func fourSeconds() imagegen.Provider { return slowly(4 * time.Second) }

func TestARepetitionJoinsWorkUnderWay(t *testing.T) {
	joining(t, fourSeconds, func(h *joiner) {
		h.hangsUp()
		h.hangsUp() // who joined and hangs up passes it on
		got := h.answers()
		h.is.True(got.Replayed)
		h.is.Equal(len(got.Images), 1)
		h.is.Equal(got.Balance.Credits, imagegen.Credits(99)) // as of its own settlement
		h.is.Equal(h.made(), 1)
		h.is.Equal(h.balance(), imagegen.Credits(99))

		h.is.True(!h.answers().Replayed) // what was received is joined by nobody
		h.is.Equal(h.balance(), imagegen.Credits(98))
	})
}

func TestARepetitionJoinsWorkThatHasEnded(t *testing.T) {
	joining(t, fourSeconds, func(h *joiner) {
		h.hangsUp()
		time.Sleep(time.Minute)
		h.restart() // the mark is durable
		got := h.answers()
		h.is.True(got.Replayed)
		h.is.Equal(h.balance(), imagegen.Credits(99))
		h.restart()
		h.is.True(!h.answers().Replayed)
	})
}

func TestAnAnswerThatWasNotReceivedIsJoined(t *testing.T) {
	joining(t, fourSeconds, func(h *joiner) {
		first, err := h.call(time.Hour)
		h.is.NoErr(err)
		h.engine.As(alice).ReportDelivery(first.ID, false)
		second, err := h.call(time.Hour)
		h.is.NoErr(err)
		h.is.Equal(second.ID, first.ID)
		h.engine.As(alice).ReportDelivery(second.ID, false)
		h.restart()
		third := h.answers()
		third.Replayed = false
		h.is.Equal(cmp.Diff(first, third), "")
		h.is.Equal(h.balance(), imagegen.Credits(99))
	})
}

// A caller who hangs up while the outcome is on its way to the store is noted thereafter.
func TestAHangUpBesideTheSettlement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startFaulty(t, yieldImages(1, nil))
		f.failBefore(func(call string, n int, _ imagegen.Fence) error {
			if call == "Settle" {
				time.Sleep(4 * time.Second)
			}
			return nil
		})
		h := &joiner{f.harness}
		h.hangsUp() // after one of them
		time.Sleep(time.Minute)
		h.restart() // the mark is durable
		h.is.True(h.answers().Replayed)
		h.is.Equal(h.balance(), imagegen.Credits(99))
		h.is.True(!h.answers().Replayed)
		h.audit()
	})
}

// A repeated call joins even if the operator has changed the models meanwhile.
func TestARepetitionJoinsWhatIsNoLongerOffered(t *testing.T) {
	for name, models := range map[string][]engine.Model{
		"retired": {retired(offered("m", yieldImages(1, nil), 1))},
		"dropped": {offered("other", yieldImages(1, nil), 1)},
		"other tiers": {{ID: "m", Provider: yieldImages(1, nil),
			Credits: map[imagegen.Tier]imagegen.Credits{"4K": 1}}},
		"less of them": {{ID: "m", Provider: &scripted{}, Credits: map[imagegen.Tier]imagegen.Credits{"1K": 1}}},
	} {
		for moment, after := range map[string]time.Duration{"under way": 0, "ended": time.Minute} {
			t.Run(name+", "+moment, func(t *testing.T) {
				joining(t, fourSeconds, func(h *joiner) {
					reference := func(q *imagegen.GenerateRequest) {
						q.References = []imagegen.Reference{bytesReference(pngOf(32, 32))}
					}
					h.hangsUp(reference)
					h.is.NoErr(h.setModels(models...))
					time.Sleep(after)
					h.is.True(h.answers(reference).Replayed)
					_, err := h.call(time.Hour, reference) // the answer was received
					h.is.True(isCode(err, imagegen.ErrInvalidRequest))
					h.is.Equal(h.balance(), imagegen.Credits(99))
				})
			})
		}
	}
}

func TestNothingIsJoinedAfterTheWindow(t *testing.T) {
	joining(t, fourSeconds, func(h *joiner) {
		h.hangsUp()
		time.Sleep(3*time.Second + 10*time.Minute)
		h.is.True(!h.answers().Replayed)
	})
}

func TestWhatFailedIsMadeAnew(t *testing.T) {
	failing := func() imagegen.Provider {
		made := 0
		p := slowly(4 * time.Second)
		work := p.do
		p.do = func(ctx context.Context, r imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
			if made++; made == 1 {
				time.Sleep(4 * time.Second)
				yield(imagegen.ProviderImage{}, errors.New("no"))
				return
			}
			work(ctx, r, yield)
		}
		return p
	}
	joining(t, failing, func(h *joiner) {
		h.hangsUp()
		got := h.answers() // waits for the first, and then makes its own
		h.is.True(!got.Replayed)
		h.is.Equal(h.made(), 2)
		h.is.Equal(h.balance(), imagegen.Credits(99))
	})
}

func TestTwoCallersWhoWaitGetTwoGenerations(t *testing.T) {
	joining(t, fourSeconds, func(h *joiner) {
		done := make(chan imagegen.Result, 2)
		for range 2 {
			go func() { done <- h.answers() }()
		}
		a, b := <-done, <-done
		h.is.True(a.ID != b.ID && !a.Replayed && !b.Replayed)
		h.is.Equal(h.balance(), imagegen.Credits(98))
	})
}

func TestOneCallerJoinsOneCall(t *testing.T) {
	joining(t, fourSeconds, func(h *joiner) {
		h.hangsUp()
		done := make(chan imagegen.Result, 2)
		for range 2 {
			go func() { done <- h.answers() }()
		}
		a, b := <-done, <-done
		h.is.True(a.ID != b.ID)
		h.is.True(a.Replayed != b.Replayed)
	})
}

func TestOtherCallsDoNotJoin(t *testing.T) {
	also := func(s string) func(*imagegen.GenerateRequest) {
		return func(q *imagegen.GenerateRequest) { q.Join.MatchValues = []string{s} }
	}
	for name, change := range map[string]func(*imagegen.GenerateRequest){
		"another prompt":     func(q *imagegen.GenerateRequest) { q.Prompt = "a wolf" },
		"another user of it": also("u2"),
		"no joining":         func(q *imagegen.GenerateRequest) { q.Join = nil },
		"an idempotency key": func(q *imagegen.GenerateRequest) { q.IdempotencyKey = "k" },
	} {
		t.Run(name, func(t *testing.T) {
			joining(t, fourSeconds, func(h *joiner) {
				h.hangsUp(also("u1"))
				got := h.answers(also("u1"), change)
				h.is.True(!got.Replayed)
				h.is.True(h.answers(also("u1")).Replayed)
			})
		})
	}
}

func TestKeysOfOneUserDoNotJoin(t *testing.T) {
	joining(t, fourSeconds, func(h *joiner) {
		by := func() *engine.Session {
			raw, _, err := h.engine.Accounts().MintKey(h.Context(), alice, "k", time.Time{})
			h.is.NoErr(err)
			s, err := h.engine.Authenticate(h.Context(), raw.Reveal())
			h.is.NoErr(err)
			return s
		}
		_, err := h.engine.Accounts().CreateUser(h.Context(), "u", "")
		h.is.NoErr(err)
		one, other := by(), by()
		q := fox(imagegen.GenerateRequest{Join: &imagegen.JoinOptions{}})
		ctx, cancel := context.WithTimeout(h.Context(), time.Second)
		defer cancel()
		_, err = one.Generate(ctx, q)
		h.is.True(errors.Is(err, context.DeadlineExceeded))
		got, err := other.Generate(h.Context(), q)
		h.is.NoErr(err)
		h.is.True(!got.Replayed)
		got, err = one.Generate(h.Context(), q)
		h.is.NoErr(err)
		h.is.True(got.Replayed)
	})
}

func TestARetryWaitsForTheFirstCallerToHangUp(t *testing.T) {
	joining(t, fourSeconds, func(h *joiner) {
		go h.hangsUp() // after a second
		time.Sleep(500 * time.Millisecond)
		got := h.answers(retry)
		h.is.True(got.Replayed)
		h.is.Equal(h.balance(), imagegen.Credits(99))
	})
}

func TestARetryJoinsTheOnlyCallThatIsOpen(t *testing.T) {
	joining(t, fourSeconds, func(h *joiner) {
		first := make(chan imagegen.Result)
		go func() { first <- h.answers() }()
		time.Sleep(500 * time.Millisecond)
		h.is.True(h.answers(retry).Replayed) // after two seconds: a proxy may not have passed it on
		<-first
		h.is.Equal(h.balance(), imagegen.Credits(99))
	})
}

func TestARetryOfOneOfTwoOpenCallsIsACallOfItsOwn(t *testing.T) {
	joining(t, fourSeconds, func(h *joiner) {
		done := make(chan imagegen.Result, 2)
		for range 2 {
			go func() { done <- h.answers() }()
		}
		time.Sleep(500 * time.Millisecond)
		h.is.True(!h.answers(retry).Replayed)
		<-done
		<-done
		h.is.Equal(h.balance(), imagegen.Credits(97))
	})
}

func TestAtMostEightCallsOfAKeyWait(t *testing.T) {
	joining(t, fourSeconds, func(h *joiner) {
		no := func(n int) func(*imagegen.GenerateRequest) {
			return func(q *imagegen.GenerateRequest) { q.Join.MatchValues = []string{strconv.Itoa(n)} }
		}
		for n := range 9 {
			go h.hangsUp(no(n))
		}
		time.Sleep(1500 * time.Millisecond)
		done := make(chan error, 9)
		for n := range 9 {
			go func() {
				_, err := h.call(time.Hour, no(n))
				done <- err
			}()
		}
		h.is.True(isCode(<-done, imagegen.ErrOverloaded)) // at once; it leaves the call to others
		for range 8 {
			h.is.NoErr(<-done)
		}
		h.is.Equal(h.made(), 9)
	})
}

func TestADrainEndsTheWaitOfWhoJoined(t *testing.T) {
	joining(t, fourSeconds, func(h *joiner) {
		h.hangsUp()
		failed := make(chan error)
		go func() {
			_, err := h.call(time.Hour)
			failed <- err
		}()
		synctest.Wait()
		stopped := make(chan error)
		go func() { stopped <- h.engine.Stop(context.Background()) }()
		h.is.True(isCode(<-failed, imagegen.ErrOverloaded))
		h.is.NoErr(<-stopped)
		h.restart()
		h.is.True(h.answers().Replayed) // the work went on
		h.is.Equal(h.balance(), imagegen.Credits(99))
	})
}

func TestJoiningIsOffWithoutAWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &joiner{start(t, fourSeconds(), func(c *engine.Config) { c.Repeats.JoinWindow = -1 })}
		h.hangsUp()
		former := h.answers()
		h.is.True(!former.Replayed)
		r, err := h.engine.Record(t.Context(), former.ID)
		h.is.NoErr(err)
		h.is.Equal(r.JoinKey, [32]byte{}) // nothing is noted of it
	})
}

func TestARevokedKeyJoinsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &joiner{start(t, fourSeconds())}
		user, err := h.engine.Accounts().CreateUser(t.Context(), "u", "")
		h.is.NoErr(err)
		_, err = h.db.Grant(t.Context(), imagegen.Grant{User: user.ID, Credits: 10})
		h.is.NoErr(err)
		raw, key, err := h.engine.Accounts().MintKey(t.Context(), user.ID, "k", time.Time{})
		h.is.NoErr(err)
		s, err := h.engine.Authenticate(t.Context(), raw.Reveal())
		h.is.NoErr(err)
		q := fox(imagegen.GenerateRequest{Join: &imagegen.JoinOptions{}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = s.Generate(ctx, q)
		h.is.True(errors.Is(err, context.DeadlineExceeded))
		failed := make(chan error)
		go func() {
			_, err := s.Generate(t.Context(), q)
			failed <- err
		}()
		synctest.Wait() // it waits for the work
		_, err = h.engine.Accounts().RevokeKey(t.Context(), key.ID)
		h.is.NoErr(err)
		h.is.True(isCode(<-failed, imagegen.ErrInvalidKey))
	})
}

// A caller whose outcome was unknown, and who asks again, gets what recovery made of it, and pays once.
func TestACallOfUnknownOutcomeIsJoined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startFaulty(t, yieldImages(1, nil), withTries(1))
		f.failBefore(first(1, "Settle", errDoubt))
		h := &joiner{f.harness}
		_, err := h.call(time.Hour)
		h.is.True(isCode(err, imagegen.ErrInternal))
		h.is.True(h.answers().Replayed)
		h.is.Equal(h.balance(), imagegen.Credits(99))
		h.is.True(!h.answers(retry).Replayed)
	})
}

// Work that was not settled when its process ended was not answered either.
func TestACallThatANextProcessSettlesIsJoined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startFaulty(t, yieldImages(1, nil), withTries(1))
		f.failBefore(first(1, "Settle", errDoubt))
		h := &joiner{f.harness}
		_, err := h.call(time.Hour)
		h.is.True(isCode(err, imagegen.ErrInternal))
		h.is.NoErr(h.engine.Stop(t.Context()))
		h.restart()
		time.Sleep(2 * time.Minute)
		h.is.True(h.answers().Replayed)
		h.is.Equal(h.balance(), imagegen.Credits(99))
	})
}

// slowMarks is a store that takes a second to note that nobody received an answer.
type slowMarks struct{ imagegen.TxStore }

func (s slowMarks) Update(ctx context.Context, f imagegen.Fence, c imagegen.Change) (imagegen.Record, error) {
	if d, ok := c.(imagegen.DeliveryChange); ok && d.Undelivered {
		time.Sleep(time.Second)
	}
	return s.TxStore.Update(ctx, f, c)
}

// An answer that was received is given to nobody else, also if that came before it was noted that the caller
// before had gone.
func TestAnAnswerThatIsReceivedWhileTheHangUpIsNoted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &joiner{start(t, fourSeconds(), func(c *engine.Config) {
			c.Images, c.Spool = c.Store.(imagegen.ImageStore), c.Store.(imagegen.Spool)
			c.Store = slowMarks{c.Store.(imagegen.TxStore)}
		})}
		former, err := h.call(time.Hour)
		h.is.NoErr(err)
		go h.engine.As(alice).ReportDelivery(former.ID, false)
		synctest.Wait()
		h.is.True(h.answers().Replayed)
		time.Sleep(2 * time.Second)
		h.is.True(!h.answers().Replayed)
	})
}

// An answer that was received by nobody stays to be joined, also if a second caller hangs up while it is noted that the
// first one had gone.
func TestTwoHangUpsWhileTheFirstIsNoted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &joiner{start(t, fourSeconds(), func(c *engine.Config) {
			c.Images, c.Spool = c.Store.(imagegen.ImageStore), c.Store.(imagegen.Spool)
			c.Store = slowMarks{c.Store.(imagegen.TxStore)}
		})}
		former, err := h.call(time.Hour)
		h.is.NoErr(err)
		go h.engine.As(alice).ReportDelivery(former.ID, false)
		time.Sleep(time.Second / 2)
		again, err := h.call(time.Hour)
		h.is.NoErr(err)
		h.is.True(again.Replayed)
		go h.engine.As(alice).ReportDelivery(again.ID, false)
		time.Sleep(3 * time.Second)
		h.is.True(h.answers().Replayed)
		h.is.Equal(h.balance(), imagegen.Credits(99))
	})
}
