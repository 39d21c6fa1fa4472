package model_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/imagegend/imagegend/imagegen"
)

// ask sends an order and goes on; the answer comes in the diary.
func (w *service) ask(o *order) {
	o.phase, o.asked, o.created = open, time.Now(), w.at(time.Now())
	w.plan(o)
	w.foresee(o)
	w.books.look(o.asked)
	o.poor = len(o.request.References) > 0 && w.mayHandIn(o) < prices["plain"]
	w.orders = append(w.orders, o)
	ctx, hangUp := context.WithCancel(context.WithValue(context.Background(), asking{}, o))
	o.hangUp = hangUp
	client, err := w.client(o)
	go func() {
		defer hangUp()
		var result imagegen.Result
		if err == nil {
			result, err = client.Generate(ctx, o.request)
		}
		w.diary.write(happening{kind: answered, order: o, result: result, err: err})
	}()
}

// foresee decides what is certain of an answer before the order is sent.
func (w *service) foresee(o *order) {
	switch former := w.holder(o, o.created); {
	case w.gone(o):
		o.known = imagegen.ErrChargeRefused
	case o.impossible():
		o.known = imagegen.ErrInvalidRequest
	case former != nil:
		o.replay = former
	case !o.request.Async && w.inFlight(o) != nil:
		o.known = imagegen.ErrIdempotencyKeyInUse
		if !w.inFlight(o).same(o) {
			o.known = imagegen.ErrIdempotencyKeyReused
		}
	case !w.up:
		o.known = imagegen.ErrOverloaded
	case o.request.Async:
		o.crowd = w.crowd()
	}
}

// holder is the order that reserves the key of another at a time: the last that has the key still, if that holds it.
func (w *service) holder(o *order, now time.Time) *order {
	for _, h := range slices.Backward(w.holders[holder{o.user, o.request.IdempotencyKey}]) {
		if h.forgotten {
			continue
		}
		if !h.holds(now) {
			return nil
		}
		return h
	}
	return nil
}

// inFlight is a synchronous order with the same key that waits for its turn.
func (w *service) inFlight(o *order) *order {
	for _, p := range w.orders {
		if p.user == o.user && p.request.IdempotencyKey != "" && p.request.IdempotencyKey == o.request.IdempotencyKey &&
			!p.request.Async && p.waits() {
			return p
		}
	}
	return nil
}

// crowd tells whether another asynchronous order has a place in the queue.
func (w *service) crowd() crowd {
	waiting, away := 0, 0
	for _, o := range w.orders {
		switch {
		case o.request.Async && o.phase == queued:
			waiting++
		case o.request.Async && o.phase == lost:
			away++
		}
	}
	switch {
	case waiting >= maxQueued:
		return crowded
	case waiting+away >= maxQueued: // those that recovery has put back count
		return perhaps
	}
	return room
}

// answered holds an answer against what it must be.
func (w *service) answered(h happening) {
	w.Helper()
	o := h.order
	w.adopt(h.result.Generation)
	result, err := w.answer(o, h)
	o.done = true
	if !sameError(err, h.err) {
		w.Fatalf("%#v: answered %v, want %v", o, h.err, err)
	}
	if err == nil && !reflect.DeepEqual(result, h.result) {
		w.Fatalf("%#v: %s", o, cmp.Diff(result, h.result, cmpopts.EquateErrors()))
	}
	switch {
	case errors.Is(err, imagegen.ErrInsufficientCredits):
		w.met.Add("refused", 1)
	case errors.Is(err, imagegen.ErrOverloaded):
		w.met.Add("unavailable", 1)
	case o.replay != nil:
		w.met.Add("replayed", 1)
	}
}

// sameError compares errors as a caller sees them.
func sameError(want, got error) bool {
	w, coded := errors.AsType[*imagegen.Error](want)
	if !coded {
		return errors.Is(got, want) && (want == nil) == (got == nil)
	}
	g, coded := errors.AsType[*imagegen.Error](got)
	failed := w.Code == imagegen.CodeGenerationFailed
	return coded && g.Code == w.Code && g.Generation == w.Generation && g.Replayed == w.Replayed &&
		(!failed || g.Message == w.Message)
}

// answer is what an order must be answered with.
func (w *service) answer(o *order, h happening) (imagegen.Result, error) {
	switch {
	case o.known != nil:
		return imagegen.Result{}, o.known
	case o.replay != nil:
		return w.replay(o)
	case o.hungUp:
		return imagegen.Result{}, context.Canceled
	case !o.accepted():
		return w.refusal(o, h)
	case o.request.Async:
		return imagegen.Result{Generation: o.acceptedView()}, nil
	case o.phase == ended:
		return o.answer()
	case o.phase == lost:
		return imagegen.Result{}, &imagegen.Error{Code: imagegen.CodeInternal, Generation: o.id}
	}
	w.Fatalf("%#v: answered %v", o, h.err)
	return imagegen.Result{}, nil
}

// refusal is why an order was not accepted, in the order in which it is checked.
func (w *service) refusal(o *order, h happening) (imagegen.Result, error) {
	switch {
	case w.up && o.poor:
		return imagegen.Result{}, imagegen.ErrInsufficientCredits
	case !w.up, o.crowd == crowded, !o.request.Async && h.at.Sub(o.asked) == slotWait,
		o.crowd == perhaps && errors.Is(h.err, imagegen.ErrOverloaded):
		return imagegen.Result{}, imagegen.ErrOverloaded
	case o.unknown && w.poorStranger(o, h.at): // which is not made a member for nothing
		return imagegen.Result{}, imagegen.ErrInsufficientCredits
	case w.gate.full.Load():
		w.class.mayKnow = w.class.mayKnow || o.unknown
		return imagegen.Result{}, imagegen.ErrOverloaded
	case w.gone(o):
		return imagegen.Result{}, imagegen.ErrChargeRefused
	case w.holder(o, w.at(h.at)) != nil: // it came, or the clock fell, while this one waited
		o.replay = w.holder(o, w.at(h.at))
		return w.replay(o)
	}
	if o.payer != w.sponsorOf(o.user) {
		w.met.Add("another pays by now", 1)
		return imagegen.Result{}, imagegen.ErrOverloaded
	}
	if w.over(o) {
		w.met.Add("over the limit of a key", 1)
		return imagegen.Result{}, imagegen.ErrInsufficientCredits
	}
	w.books.look(h.at)
	if w.books.balance(o.account()).Credits < o.charge().Credits {
		return imagegen.Result{}, imagegen.ErrInsufficientCredits
	}
	w.Fatalf("%#v: refused for no reason: %v", o, h.err)
	return imagegen.Result{}, nil
}

// replay is the answer to an order whose key another holds.
func (w *service) replay(o *order) (r imagegen.Result, err error) {
	former := o.replay
	switch {
	case former.phase == erased: // for what it was is forgotten
		return r, imagegen.ErrNotFound
	case !former.same(o):
		return r, imagegen.ErrIdempotencyKeyReused
	case former.request.Async:
		return imagegen.Result{Generation: former.acceptedView(), Replayed: true}, nil
	case former.phase != ended:
		return r, &imagegen.Error{Code: imagegen.CodeIdempotencyKeyInUse, Generation: former.id}
	}
	r, err = former.answer()
	if failure, ok := errors.AsType[*imagegen.Error](err); ok {
		failure.Replayed = true
		return r, failure
	}
	r.Replayed = true
	return r, nil
}

// adopt takes over the identifiers of images, which only the engine knows, when an answer first shows them.
func (w *service) adopt(answer imagegen.Generation) {
	w.Helper()
	o := w.byID[answer.ID]
	if o == nil || len(o.pictures) != len(answer.Images) {
		return
	}
	for i := range o.pictures {
		if o.pictures[i].ID != "" {
			continue
		}
		o.pictures[i].ID = answer.Images[i].ID
		if slices.ContainsFunc(o.pictures[:i], func(p pictured) bool { return p.ID == answer.Images[i].ID }) {
			w.Fatalf("two images of %s are one: %v", o.id, answer.Images)
		}
	}
}
