package model_test

import (
	"bytes"
	"errors"
	"reflect"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
)

// read has the model follow what happened, if it can have happened.
func (w *service) read(h happening) {
	w.Helper()
	switch h.kind {
	case accepted:
		w.accepted(h)
	case begun:
		w.begun(h)
	case left:
		w.left(h)
	case shown:
		w.shown(h)
	case settled:
		w.settled(h)
	case answered:
		w.answered(h)
	}
}

// accepted charges the order.
func (w *service) accepted(h happening) {
	w.Helper()
	o := h.order
	switch {
	case o == nil || o.phase != open || o.done:
		w.Fatalf("%#v: accepted as %s, out of order", o, h.id)
	case o.known != nil, o.replay != nil, o.crowd == crowded, !w.up, w.gate.full.Load(),
		w.holder(o, w.at(h.at)) != nil, w.over(o), o.poor, w.gone(o), o.payer != w.sponsorOf(o.user):
		w.Fatalf("%#v: accepted; it was to be refused", o)
	case w.byID[h.id] != nil:
		w.Fatalf("%s is the name of two generations", h.id)
	}
	o.id, o.phase = h.id, queued
	w.byID[o.id] = o
	if key := o.request.IdempotencyKey; key != "" {
		w.holders[holder{o.user, key}] = append(w.holders[holder{o.user, key}], o)
	}
	w.accept(o)
	w.books.look(h.at)
	if err := w.books.charge(o.charge()); err != nil {
		w.Fatalf("%#v: accepted: %v", o, err)
	}
}

// begun is an attempt that begins.
func (w *service) begun(h happening) {
	w.Helper()
	o := w.byID[imagegen.GenerationID(h.call.Key)]
	now := w.books.clock.now(h.at)
	switch {
	case o == nil || w.dead:
		w.Fatalf("the provider was called for %s", h.call.Key)
	case w.paused(o.request.Model, h.at):
		w.Fatalf("%#v: an attempt began before %v, as the upstream asked", o, w.overloads[o.request.Model].pause)
	case o.phase == queued && !h.at.Before(o.notBefore) && !(o.request.Async && o.tooOld(now)):
	case o.phase == lost && !o.hopeless(now):
		o.tries = o.triesIfLost()
	default:
		w.Fatalf("%#v: an attempt began", o)
	}
	if q := h.call; q.Prompt != o.request.Prompt || q.N != o.request.N || q.Size != o.request.Size ||
		!reflect.DeepEqual(q.Options, o.options()) ||
		len(q.References) != len(o.request.References) || (q.Mask == nil) != (o.request.Mask == nil) ||
		!bytes.Equal(q.Job, o.job) {
		w.Fatalf("the provider is asked for %+v; the order is %#v", q, o)
	}
	o.phase, o.call, o.pictures, o.began, o.limit = running, h.call, o.pictures[:o.shown], h.at, attemptTimeout
	o.had = o.shown
	if !o.request.Async {
		o.limit -= h.at.Sub(o.asked) // it waited for a slot
	}
	w.calls = append(w.calls, h.call)
	slices.SortFunc(w.calls, func(a, b *upcall) int { return bytes.Compare([]byte(a.Key), []byte(b.Key)) })
}

// left is a provider that has returned.
func (w *service) left(h happening) {
	w.Helper()
	w.calls = slices.DeleteFunc(w.calls, func(c *upcall) bool { return c == h.call })
	o := w.byID[imagegen.GenerationID(h.call.Key)]
	w.overloaded(o.request.Model, h.err, h.at)
	switch {
	case o.call != h.call: // another attempt has taken over
		return
	case w.dead:
		o.lose()
		return
	case errors.Is(h.err, imagegen.ErrStale), errors.Is(h.err, imagegen.ErrStopping) && w.up:
		w.Fatalf("%#v: its attempt was ended: %v", o, h.err)
	case h.err != nil && h.err.Error() == timeLimit && h.at.Sub(o.began) != max(o.limit, 0)+h.call.stagger:
		w.Fatalf("%#v: reached its limit of %v after %v", o, o.limit, h.at.Sub(o.began))
	}
	o.call = nil
	o.conclude(h.err, w.books.clock.now(h.at), h.at)
}

// shown is the entry of what came before the end.
func (w *service) shown(h happening) {
	w.Helper()
	o := w.byID[h.id]
	if o == nil || w.dead || o.phase != running || len(h.images) <= o.shown || len(h.images) > len(o.pictures) ||
		len(h.images) == o.request.N {
		w.Fatalf("%#v: %d images were shown", o, len(h.images))
	}
	for i, image := range h.images {
		if i < o.shown && o.pictures[i].ID != image.ID {
			w.Fatalf("%#v: image %s was shown, and is %s now", o, o.pictures[i].ID, image.ID)
		}
		o.pictures[i].ID = image.ID
	}
	o.shown = len(h.images)
}

const timeLimit = "imagegen: the attempt reached its time limit"

// settled is the end of a generation, with its refund.
func (w *service) settled(h happening) {
	w.Helper()
	o := w.byID[h.id]
	now := w.books.clock.now(h.at)
	switch {
	case o != nil && o.phase == concluding:
	case o != nil && (o.phase == queued || o.phase == lost) && o.cancelling:
		o.failure = imagegen.ClassCancelled
	case o != nil && o.phase == queued && o.request.Async && o.tooOld(now): // it waited too long
		o.failure = imagegen.ClassUnknown
	case o != nil && o.phase == lost && o.hopeless(now):
		o.lose()
		o.failure = imagegen.ClassUnknown
	default:
		w.Fatalf("%#v: settled; failed: %t", o, h.failed)
	}
	if h.failed != (len(o.pictures) == 0) {
		w.Fatalf("%#v: settled; failed: %t", o, h.failed)
	}
	w.books.look(h.at)
	if o.disputed = w.outsideLedger != nil && w.outsideLedger.refuses(); !o.disputed {
		w.settleBooks(o)
	}
	o.phase, o.completed, o.job = ended, w.at(h.at), nil
	if !o.request.Async && len(o.pictures) > 0 {
		o.balance = w.balanceToTell(o)
	}
	w.count(o)
}

func (w *service) count(o *order) {
	switch len(o.pictures) {
	case o.request.N:
		w.met.Add("succeeded", 1)
	case 0:
		w.met.Add("failed", 1)
	default:
		w.met.Add("partial", 1)
	}
}
