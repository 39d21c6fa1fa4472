package crash_test

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/proof/internal/witness"
)

// scenario is what clients do, and what the upstream does with it.
type scenario struct {
	name       string
	order      order
	expiring   time.Duration // the credits expire so soon
	retain     time.Duration // so long generations are kept; 0: for good
	forget     time.Duration // so long prompts of failed ones are kept; 0: longer than anything takes
	references bool
	members    bool // alice pays for carol, and for dora behind a key
	play       func(*world)
	again      func(*world) // of clients at the process that takes over; nil: those in doubt ask again
	want       witness.Kind // of the first request when nothing goes wrong
	twice      bool         // the process that takes over dies at each of its steps too
	lasting    bool         // though processes die, all images come of what was accepted
}

var scenarios = []scenario{
	{name: "sync", want: witness.Succeeded, order: order{images: 2, takes: time.Second}, twice: true,
		play: func(w *world) { w.generate(w.Context(), alice, fox("a", 2, false)) }},
	{name: "async", want: witness.Accepted, order: order{images: 2, takes: time.Second}, twice: true, lasting: true,
		play: func(w *world) { w.generate(w.Context(), alice, fox("a", 2, true)) }},
	{name: "partial", want: witness.Succeeded, order: order{images: 2, takes: time.Second, err: errors.New("no more")},
		play: func(w *world) { w.generate(w.Context(), alice, fox("a", 3, false)) }},
	{name: "partial-async", want: witness.Accepted, order: order{images: 1, takes: time.Second,
		err: errors.New("no more")},
		play: func(w *world) { w.generate(w.Context(), alice, fox("a", 3, true)) }},
	{name: "refused-by-provider", want: witness.Failed,
		order: order{err: &imagegen.ProviderError{Class: imagegen.ClassRefused}}, play: func(w *world) {
			w.generate(w.Context(), alice, fox("a", 2, false))
		}},
	{name: "failed-async", want: witness.Accepted, order: order{err: errors.New("broken")},
		play: func(w *world) { w.generate(w.Context(), alice, fox("a", 2, true)) }},
	{name: "retry", want: witness.Accepted, order: order{images: 1, transient: 2},
		play: func(w *world) { w.generate(w.Context(), alice, fox("a", 1, true)) }},
	{name: "tries-used-up", want: witness.Accepted, order: order{images: 1, transient: 10},
		play: func(w *world) { w.generate(w.Context(), alice, fox("a", 1, true)) }},
	{name: "idempotent", want: witness.Succeeded, order: order{images: 1, takes: time.Second}, twice: true,
		play: playRepeated(false)},
	{name: "idempotent-async", want: witness.Accepted, order: order{images: 1, takes: time.Second}, lasting: true,
		play: playRepeated(true)},
	{name: "expiry-meanwhile", want: witness.Succeeded, order: order{images: 1, takes: 2 * time.Minute,
		err: errors.New("no more")}, expiring: time.Minute,
		play: func(w *world) { w.generate(w.Context(), alice, fox("a", 3, false)) }},
	{name: "hang-up", want: witness.Succeeded, order: order{images: 2, takes: time.Second}, play: playHangUp},
	{name: "drain", want: witness.Succeeded, order: order{images: 2, takes: time.Minute}, play: playDrain(false)},
	{name: "drain-async", want: witness.Accepted, order: order{images: 2, takes: time.Minute}, lasting: true,
		play: playDrain(true)},
	{name: "job", want: witness.Accepted, order: order{images: 1, takes: time.Second, job: true}, lasting: true,
		play: func(w *world) { w.generate(w.Context(), alice, fox("a", 1, true)) }},
	{name: "references", want: witness.Succeeded, order: order{images: 1, takes: time.Second}, references: true,
		play: func(w *world) { w.generate(w.Context(), alice, fox("a", 1, false)) }},
	{name: "references-async", want: witness.Accepted, order: order{images: 1, takes: time.Second}, references: true,
		lasting: true, play: func(w *world) { w.generate(w.Context(), alice, fox("a", 1, true)) }},
	{name: "insufficient", want: witness.Succeeded, order: order{images: 4}, play: playInsufficient},
	{name: "two-users", want: witness.Succeeded, order: order{images: 1, takes: time.Second}, play: playTwoUsers},
	{name: "followed", want: witness.Accepted, order: order{images: 2, takes: 4 * time.Second}, lasting: true,
		play: playFollowed, again: playFollowed},
	{name: "keys", want: witness.Succeeded, order: order{images: 1}, play: playKeys, again: playKeys},
	{name: "members", want: witness.Succeeded, order: order{images: 1, takes: time.Minute}, members: true,
		play: playMembers, again: playMembers},
	{name: "erase", want: witness.Succeeded, order: order{images: 1}, play: playErase, again: playErase},
	{name: "retention", want: witness.Succeeded, order: order{images: 1}, retain: retention, play: playRetention,
		again: playRetention},
	{name: "forgotten", want: witness.Failed, order: order{err: &imagegen.ProviderError{Class: imagegen.ClassRefused}},
		forget: retention, references: true, play: playForgotten, again: playForgotten},
	{name: "disputed-settled", want: witness.Accepted, order: order{images: 2, takes: time.Second},
		play: playDisputed(false), again: playDisputed(false)},
	{name: "disputed-refunded", want: witness.Accepted, order: order{images: 2, takes: time.Second},
		play: playDisputed(true), again: playDisputed(true)},
	{name: "disputed-failure", want: witness.Failed, order: order{err: errors.New("broken")}, play: playDisputedFailure,
		again: playDisputedFailure},
}

// playRepeated has a client send its request twice.
func playRepeated(async bool) func(*world) {
	return func(w *world) {
		t := w.generate(w.Context(), alice, keyed(fox("a", 1, async)))
		first := *t
		if w.steps.gone() {
			return
		}
		if w.ask(w.Context(), t) && first.ID != "" && (!t.result.Replayed || t.result.ID != first.result.ID) {
			w.Errorf("the repetition was answered with %s, the first with %s", t.result.ID, first.result.ID)
		}
	}
}

// playFollowed has a client ask until it learns what became of its images.
func playFollowed(w *world) {
	if len(w.clientOrders) == 0 {
		w.generate(w.Context(), alice, keyed(fox("a", 2, true)))
	}
	w.repeatDoubtful()
	if t := w.clientOrders[0]; t.outcome == witness.Accepted && !w.steps.gone() {
		w.follow(t)
	}
}

func playHangUp(w *world) {
	ctx, cancel := context.WithTimeout(w.Context(), 1500*time.Millisecond)
	defer cancel()
	w.generate(ctx, alice, keyed(fox("a", 2, false)))
	w.settle()
	w.repeatDoubtful()
}

// playDrain stops the process while the work is under way; another takes over.
func playDrain(async bool) func(*world) {
	return func(w *world) {
		var asking sync.WaitGroup
		defer asking.Wait()
		asking.Go(func() { w.generate(w.Context(), alice, keyed(fox("a", 2, async))) })
		time.Sleep(90 * time.Second)
		if !w.steps.gone() {
			w.halt(time.Second)
			w.steps.die() // with the exit of the process
		}
	}
}

func playInsufficient(w *world) {
	for _, prompt := range []string{"a", "b"} {
		if !w.steps.gone() {
			w.generate(w.Context(), bob, fox(prompt, 4, false))
		}
	}
}

func playTwoUsers(w *world) {
	var asking sync.WaitGroup
	defer asking.Wait()
	w.clientOrders = []*clientOrder{newClientOrder(alice, keyed(fox("a", 1, false))),
		newClientOrder(bob, keyed(fox("b", 1, true)))}
	for _, t := range w.clientOrders {
		asking.Go(func() { w.ask(w.Context(), t) })
	}
}

// playErase has a generation made, and erased by an operator.
func playErase(w *world) {
	t := w.clientOrders
	if len(t) == 0 {
		t = append(t, w.generate(w.Context(), alice, keyed(fox("a", 1, false))))
	}
	if t[0].outcome != witness.Succeeded || w.steps.gone() {
		return
	}
	t[0].Erasure = witness.Erasing
	_ = w.engine.Erase(w.Context(), t[0].result.ID) // whatever it says, it is there as a whole or goes as a whole
}

const retention = 24 * time.Hour

// playRetention has a generation made, and a day go by until it is erased.
func playRetention(w *world) {
	if len(w.clientOrders) == 0 {
		w.generate(w.Context(), alice, fox("a", 1, false))
	}
	w.clientOrders[0].Erasure = witness.Erasing
	w.pass(retention + time.Minute)
	time.Sleep(3 * time.Minute)
}

// playForgotten has a generation fail, and a day go by until its prompt is forgotten.
func playForgotten(w *world) {
	if len(w.clientOrders) == 0 {
		w.generate(w.Context(), alice, fox("a", 1, false))
	}
	w.pass(retention + time.Minute)
	time.Sleep(3 * time.Minute)
}

// playDisputed has the ledger refuse for good to settle what was made, and an operator resolve that. A
// ledger that commits with the store is not asked, and has nothing to refuse.
func playDisputed(refund bool) func(*world) {
	return func(w *world) { w.dispute(fox("a", 3, true), refund) }
}

// playDisputedFailure has nothing made, and the charge in dispute for all that.
func playDisputedFailure(w *world) { w.dispute(fox("a", 2, false), false) }

func (w *world) dispute(q imagegen.GenerateRequest, refund bool) {
	if len(w.clientOrders) == 0 {
		w.refusing.Store(true)
		w.generate(w.Context(), alice, keyed(q))
	}
	w.settle()
	w.repeatDoubtful()
	w.settle()
	if w.steps.gone() {
		return
	}
	w.refusing.Store(false)
	disputed := 0
	for _, r := range w.records() {
		if r.Dispute != "" {
			disputed++
			w.resolve(r, refund)
		}
	}
	if disputed == 0 && !w.joins() && w.steps.at == 0 && len(w.faults) == 0 {
		w.Error("nothing was in dispute")
	}
}

// resolve has an operator who gets an error try again.
func (w *world) resolve(r imagegen.Record, refund bool) {
	var refusal error
	for range 3 {
		if _, refusal = w.engine.Resolve(w.Context(), r.ID, engine.Resolution{Refund: refund}); refusal == nil ||
			w.steps.gone() {
			return
		}
		if errors.Is(refusal, imagegen.ErrChargeConflict) { // who stood still has settled it meanwhile
			refund = false
		}
	}
	if now, err := w.db.Generation(context.Background(), r.ID); err != nil || now.Dispute != "" {
		w.Errorf("generation %s could not be resolved: %v", r.ID, errors.Join(refusal, err))
	}
}
