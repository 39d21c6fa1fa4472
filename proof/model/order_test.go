package model_test

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// order is one call of Generate and the generation that comes of it: the model of the lifecycle.
type order struct {
	user    imagegen.UserID
	payer   imagegen.UserID // the sponsor when it was asked; "": the user
	limited bool            // by a key that may spend so much
	unknown bool            // the service did not know the user when it was asked
	poor    bool            // nothing that came with it was kept, for want of credits
	request imagegen.GenerateRequest
	asked   time.Time // real
	created time.Time // as it writes that down

	hangUp func()
	hungUp bool
	done   bool  // it was answered
	known  error // the answer, where it was certain beforehand
	replay *order
	crowd  crowd

	phase      phase
	id         imagegen.GenerationID // "": it was not accepted
	call       *upcall
	began      time.Time // the attempt
	limit      time.Duration
	pictures   []pictured // of the attempt; of the generation, once it has ended
	shown      int        // of the pictures, before the end
	had        int        // of the pictures, when the attempt began
	job        []byte
	tries      int           // used up
	notBefore  time.Time     // real: while the store is open, no leap of the clock makes it wait longer or shorter
	wait       time.Duration // until then, when it was written down
	due        time.Time     // the same as the service's time
	away       time.Time     // when its attempt was lost
	completed  time.Time
	failure    imagegen.Class
	forgotten  bool              // what it left: its prompt, or the hash of its key
	old        time.Time         // real; since then it is old enough for that, and a process is there to do it
	balance    *imagegen.Balance // in the answer of a synchronous success
	cancelling bool              // its owner asked for that
	disputed   bool              // its charge is open, for an operator to resolve
	refunded   bool              // which one did, and gave everything back
}

// phase is how far an order has come.
type phase string

const (
	open       phase = "open"       // not accepted, and may never be
	queued     phase = "queued"     // charged
	running    phase = "running"    // the provider is at it
	concluding phase = "concluding" // the provider is done, the end is due
	lost       phase = "lost"       // its attempt was cut short, and nobody has taken it up yet
	ended      phase = "ended"
	erased     phase = "erased"
)

// pictured is one image as it was delivered.
type pictured struct {
	imagegen.Image
	bytes []byte
}

// crowd tells whether the queue had a place.
type crowd int

const (
	room crowd = iota
	perhaps
	crowded
)

// GoString is what is seen of an order in messages.
func (o *order) GoString() string {
	if o == nil {
		return "no order"
	}
	return fmt.Sprintf("%s of %s (%d %s, %+v, %d references, mask: %t, async: %t, key %q, limited: %t), %s %s with %d images, %d tries, job %q, due %v",
		o.request.Prompt, o.user, o.request.N, o.request.Model, o.request.Options, len(o.request.References),
		o.request.Mask != nil, o.request.Async, o.request.IdempotencyKey, o.limited, o.id, o.phase, len(o.pictures),
		o.tries, o.job, o.notBefore)
}

func (o *order) price() imagegen.Credits { return prices[o.request.Model] }

func (o *order) charge() imagegen.Charge {
	c := imagegen.Charge{ID: imagegen.ChargeID(o.id), User: o.account(),
		Credits: o.price() * imagegen.Credits(o.request.N)}
	if o.payer != "" {
		c.Member = o.user
	}
	return c
}

// account is whose credits pay for the order.
func (o *order) account() imagegen.UserID { return cmp.Or(o.payer, o.user) }

func (o *order) used() imagegen.Credits {
	if o.refunded {
		return 0
	}
	return o.price() * imagegen.Credits(len(o.pictures))
}

// waits reports whether a synchronous call waits for its turn.
func (o *order) waits() bool { return !o.done && o.phase == open }

func (o *order) accepted() bool { return o.phase != open }

// same reports whether two orders ask for the same.
func (o *order) same(p *order) bool {
	a, b := o.request, p.request
	return a.Model == b.Model && a.Prompt == b.Prompt && a.N == b.N && a.Size == b.Size && a.Async == b.Async &&
		reflect.DeepEqual(o.options(), p.options()) &&
		len(a.References) == len(b.References) && (a.Mask == nil) == (b.Mask == nil)
}

// holds reports whether the order reserves its idempotency key at a time.
func (o *order) holds(now time.Time) bool {
	return o.completed.IsZero() || now.Before(o.completed.Add(kept))
}

// status is what the owner is to see; "" for what is not there.
func (o *order) status() imagegen.Status {
	switch o.phase {
	case queued:
		if o.request.Async && o.began.IsZero() {
			return imagegen.StatusQueued
		}
		return imagegen.StatusProcessing
	case running, concluding, lost:
		return imagegen.StatusProcessing
	case ended:
		if len(o.pictures) == 0 {
			return imagegen.StatusFailed
		}
		return imagegen.StatusSucceeded
	}
	return ""
}

// view is the generation as its owner is to see it.
func (o *order) view() imagegen.Generation {
	g := o.acceptedView()
	g.Status = o.status()
	if o.phase != ended {
		for _, p := range o.pictures[:o.shown] {
			g.Images = append(g.Images, p.Image)
		}
		return g
	}
	if o.forgotten {
		g.Prompt = ""
	}
	g.CompletedAt, g.Credits = o.completed, o.used()
	for _, p := range o.pictures {
		g.Images = append(g.Images, p.Image)
	}
	if len(o.pictures) == 0 {
		g.Failure = o.failed()
	}
	return g
}

// acceptedView is the generation as it stands in the answer to an asynchronous call.
func (o *order) acceptedView() imagegen.Generation {
	g := imagegen.Generation{ID: o.id, Status: imagegen.StatusQueued, Model: o.request.Model, Prompt: o.request.Prompt,
		N: o.request.N, Size: o.request.Size, Quality: imagegen.QualityAuto, Ratio: imagegen.RatioAuto,
		Tier: imagegen.Tier1K, Effort: imagegen.QualityAuto, Options: o.options(),
		ReferenceCount: len(o.request.References),
		Masked:         o.request.Mask != nil, CreatedAt: o.created, CreditsRequested: o.charge().Credits}
	if !o.request.Size.Auto() {
		g.Ratio = "1:1"
	}
	return g
}

const (
	refusedByPolicy = "the provider's policy refused this request; the credits were returned; change the prompt or the reference images"
	cannotBeMade    = "the provider cannot make these images as they are asked for; the credits were returned; change the request"
	cannotBeUsed    = "the provider cannot be used until the operator of the service has mended it; the credits were returned"
)

func (o *order) failed() *imagegen.Error {
	e := &imagegen.Error{Code: imagegen.CodeGenerationFailed, Message: imagegen.ErrGenerationFailed.Message,
		Generation: o.id, Lasting: o.failure.RequestAtFault()}
	switch o.failure {
	case imagegen.ClassRefused:
		e.Message = refusedByPolicy
	case imagegen.ClassInvalid:
		e.Message = cannotBeMade
	case imagegen.ClassBlocked:
		e.Message = cannotBeUsed
	case imagegen.ClassCancelled:
		e.Code, e.Message = imagegen.CodeCancelled, imagegen.ErrCancelled.Message
	}
	return e
}

// answer is the right answer about a synchronous generation that has ended.
func (o *order) answer() (imagegen.Result, error) {
	if len(o.pictures) == 0 {
		return imagegen.Result{}, o.failed()
	}
	return imagegen.Result{Generation: o.view(), Balance: o.balance}, nil
}

// conclude decides what becomes of an order whose provider has returned, at a time of the service.
func (o *order) conclude(err error, now, real time.Time) {
	failure, _ := errors.AsType[*imagegen.ProviderError](err)
	again := o.request.Async && len(o.pictures) < o.request.N && !o.tooOld(now)
	switch {
	case errors.Is(err, imagegen.ErrStale):
		o.lose()
	case again && errors.Is(err, imagegen.ErrStopping): // costs no try
		o.release(0, now, real)
	case again && len(o.pictures) == o.had && failure != nil && failure.Class.Transient() && o.tries < len(backoff):
		wait := max(backoff[o.tries], min(failure.RetryAfter, longestWait))
		o.tries++
		o.release(wait, now, real)
	default:
		o.phase = concluding
		o.failure = imagegen.ClassUnknown
		if failure != nil {
			o.failure = failure.Class
		}
	}
}

func (o *order) release(wait time.Duration, now, real time.Time) {
	o.phase, o.pictures = queued, o.pictures[:o.shown]
	o.wait, o.due, o.notBefore = wait, now.Add(wait), real.Add(wait)
}

// lose is what a crash does to an attempt, or another that took over.
func (o *order) lose() {
	o.phase, o.call, o.pictures, o.away = lost, nil, o.pictures[:o.shown], time.Now()
}

// triesIfLost is how many tries are used up if the attempt counts as lost: one whose job was saved
// can be continued, and costs none.
func (o *order) triesIfLost() int {
	if o.job != nil {
		return o.tries
	}
	return o.tries + 1
}

// hopeless reports whether a lost order is not tried again.
func (o *order) hopeless(now time.Time) bool {
	return !o.request.Async || o.triesIfLost() > len(backoff) || o.tooOld(now)
}

func (o *order) tooOld(now time.Time) bool { return now.Sub(o.created) >= maxAge }

func byNewest(a, b *order) int { return cmp.Compare(b.id, a.id) }
