package model_test

import (
	"fmt"
	"slices"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/imagegend/imagegend/imagegen"
)

// generate is a new order of somebody.
func (w *service) generate(t *rapid.T) {
	o := &order{user: w.somebody(t), request: imagegen.GenerateRequest{
		Model:          pick(t, "model", "plain", "dear"),
		Prompt:         fmt.Sprint("order ", len(w.orders)),
		N:              pick(t, "n", 2, 3, 4, 1, 2, 3, 4, 5),
		Async:          pick(t, "async", true, false),
		IdempotencyKey: pick(t, "key", "", "", "", "a", "b", "c", "d", "e", "f"),
	}}
	if pick(t, "explicit size", false, true) {
		o.request.Size = imagegen.Size{Width: edge, Height: edge}
	}
	o.request.Options = someOptions(t)
	addFiles(t, &o.request)
	o.limited = w.keys[o.user].raw != "" && pick(t, "limited", false, false, true)
	w.ask(o)
}

// repeat asks again with a key that was used before, mostly for the same.
func (w *service) repeat(t *rapid.T) {
	var keyed []*order
	for _, o := range w.orders {
		if o.request.IdempotencyKey != "" && o.known == nil {
			keyed = append(keyed, o)
		}
	}
	if len(keyed) == 0 {
		t.SkipNow()
	}
	former := pick(t, "former", keyed...)
	o := &order{user: former.user, request: former.request}
	switch pick(t, "change", "", "", "", "", "n", "prompt", "async", "size", "options", "files") {
	case "n":
		o.request.N = 1 + o.request.N%4
	case "prompt":
		o.request.Prompt += "!"
	case "async":
		o.request.Async = !o.request.Async
	case "files":
		addFiles(t, &o.request)
	case "options":
		o.request.Options = someOptions(t)
	case "size":
		// auto or not
		o.request.Size.Width, o.request.Size.Height = edge-o.request.Size.Width, edge-o.request.Size.Height
	}
	w.ask(o)
}

func (w *service) somebody(t *rapid.T) imagegen.UserID { return pick(t, "user", everybody...) }

// someCall is one of the calls of the provider that wait.
func (w *service) someCall(t *rapid.T) *upcall {
	listening := slices.DeleteFunc(slices.Clone(w.calls), func(c *upcall) bool { return c.over.Load() })
	if len(listening) == 0 {
		t.SkipNow()
	}
	return pick(t, "call", listening...)
}

// deliver has the provider yield some images, of which some are none.
func (w *service) deliver(t *rapid.T) { w.yield(w.someCall(t), pick(t, "images", 1, 2, 0, 3, 4)) }

func (w *service) yield(c *upcall, n int) {
	o := w.byID[imagegen.GenerationID(c.Key)]
	if n == 0 {
		w.tell(c, word{image: []byte("no image")})
	}
	for range min(n, o.request.N-len(o.pictures)) {
		w.pictures++
		p := pictured{bytes: picture(w.pictures)}
		p.Width, p.Height, p.MediaType, p.CreatedAt = edge, edge, o.mediaType(), w.at(time.Now())
		p.Provenance = o.provenance()
		if o.call == c {
			o.pictures = append(o.pictures, p)
		}
		w.tell(c, word{image: p.bytes})
	}
}

// tell says something to a call that waits for it.
func (w *service) tell(c *upcall, what word) {
	w.Helper()
	select {
	case c.words <- what:
	default:
		w.Fatalf("the call for %s does not listen", c.Prompt)
	}
	synctest.Wait()
}

// end has the provider return, after some images.
func (w *service) end(t *rapid.T) {
	c := w.someCall(t)
	o := w.byID[imagegen.GenerationID(c.Key)]
	n := pick(t, "images", 4, 1, 2, 0, 1, 3, 4)
	if n > 0 {
		w.yield(c, n)
	}
	if len(o.pictures) == o.request.N {
		return // which ended it
	}
	fault := func(class imagegen.Class, after time.Duration) word {
		return word{err: &imagegen.ProviderError{Class: class, RetryAfter: after}}
	}
	w.tell(c, pick(t, "end", word{}, fault(imagegen.ClassUnavailable, 0), fault(imagegen.ClassRateLimited,
		20*time.Second),
		fault(imagegen.ClassUnknown, 0), fault(imagegen.ClassRefused, 0), fault(imagegen.ClassInvalid, 0),
		fault(imagegen.ClassUnavailable, 20*time.Second), fault(imagegen.ClassRateLimited, time.Hour),
		word{err: fmt.Errorf("no class")}, word{panic: true}))
}

// saveJob has the provider keep a handle for a later attempt, or forget it.
func (w *service) saveJob(t *rapid.T) {
	c := w.someCall(t)
	job := pick(t, "job", []byte("job of "+c.Prompt), nil)
	if o := w.byID[imagegen.GenerationID(c.Key)]; o.request.Async {
		o.job = job
	}
	w.tell(c, word{job: &job})
}

// hangUp ends the call of somebody who waits.
func (w *service) hangUp(t *rapid.T) {
	var waiting []*order
	for _, o := range w.orders {
		if !o.done {
			waiting = append(waiting, o)
		}
	}
	if len(waiting) == 0 {
		t.SkipNow()
	}
	o := pick(t, "who", waiting...)
	o.hungUp = true
	o.hangUp()
}
