package crash_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/proof/internal/witness"
)

// clientOrder is a request and the answers to it, of all processes.
type clientOrder struct {
	witness.Order
	request imagegen.GenerateRequest
	outcome witness.Kind // the best that came; "": nothing
	result  imagegen.Result
}

// hear has an order hear something.
func (w *world) hear(t *clientOrder, k witness.Kind, g imagegen.Generation) {
	t.Hear(k, g, func(ok bool, format string, args ...any) {
		w.fact(ok, "%q: "+format, append([]any{t.Prompt}, args...)...)
	})
}

// fact is something that has to be so.
func (w *world) fact(ok bool, format string, args ...any) {
	if !ok {
		w.Errorf(format, args...)
	}
}

func newClientOrder(u imagegen.UserID, q imagegen.GenerateRequest) *clientOrder {
	return &clientOrder{Order: witness.Order{User: u, Prompt: q.Prompt}, request: q}
}

// generate asks for images and keeps the answer.
func (w *world) generate(ctx context.Context, u imagegen.UserID, q imagegen.GenerateRequest) *clientOrder {
	t := newClientOrder(u, q)
	w.clientOrders = append(w.clientOrders, t)
	w.ask(ctx, t)
	return t
}

// ask sends the request of t, once more if it was sent before. It reports whether images were
// promised or delivered: a refusal of the repetition takes nothing back.
func (w *world) ask(ctx context.Context, t *clientOrder) (served bool) {
	q := t.request
	if w.references {
		q.References = []imagegen.Reference{picture{}}
	}
	result, err := w.send(ctx, t.User, q)
	if w.steps.gone() {
		w.hear(t, witness.Unknown, imagegen.Generation{})
		return false // nobody got an answer
	}
	kind := witness.KindOf(q.Async, err)
	if e, coded := errors.AsType[*imagegen.Error](err); coded && kind == witness.Failed {
		result.ID = e.Generation
	}
	w.hear(t, kind, result.Generation)
	switch kind {
	case witness.Accepted, witness.Succeeded, witness.Failed:
		t.outcome, t.result = kind, result
	case witness.Poor, witness.Busy, witness.Refused:
		w.refused(t)
	case witness.Unknown:
		_, coded := errors.AsType[*imagegen.Error](err)
		w.fact(coded || ctx.Err() != nil, "an error without a meaning: %v", err)
	}
	return err == nil
}

// refused keeps a refusal. By then nothing is held for it.
func (w *world) refused(t *clientOrder) {
	if t.outcome != "" {
		return // of the repetition
	}
	t.outcome = witness.Refused
	// what could not be voided, recovery voids; and dora's image is under way while alice leaves off paying
	if held := w.held(w.payer(t.User)); held > 0 && !t.Doubt && w.steps.name != "Settle" && !w.class.leave.done {
		w.Errorf("%q was refused, and %d credits are held", t.request.Prompt, held)
	}
}

// follow has a client ask for what was accepted until it has ended, and look at its images.
func (w *world) follow(t *clientOrder) {
	for range 100 {
		g, err := w.engine.As(t.User).Generation(w.Context(), t.result.ID)
		switch {
		case w.steps.gone():
			return
		case errors.Is(err, imagegen.ErrNotFound):
			w.Errorf("%q was accepted, and is not found", t.request.Prompt)
			return
		case err == nil && g.Status.Terminal():
			w.hear(t, witness.Succeeded, g)
			w.list(t)
			w.look(t, g)
			return
		}
		time.Sleep(5 * time.Second)
	}
	w.Errorf("%q has not ended", t.request.Prompt)
}

// list has a client look it up among all that it has.
func (w *world) list(t *clientOrder) {
	p, err := w.engine.As(t.User).Generations(w.Context(), imagegen.Query{Limit: imagegen.MaxPageSize})
	if err == nil && (len(p.Generations) != 1 || p.Generations[0].ID != t.ID) {
		w.Errorf("%q is not the one that is listed: %v", t.request.Prompt, p.Generations)
	}
}

// look has a client fetch the images.
func (w *world) look(t *clientOrder, g imagegen.Generation) {
	for _, i := range g.Images {
		f, err := w.engine.OpenImage(w.Context(), i.ID)
		w.fact(!errors.Is(err, imagegen.ErrNotFound), "image %s was seen, and is not found", i.ID)
		if err != nil {
			continue
		}
		sum, err := witness.Sum(f, nil)
		w.fact(err == nil && sum == sha256.Sum256(dot), "image %s has other bytes: %v", i.ID, err)
		t.HearImage(i.ID, sum, w.fact)
	}
}

// picture is a reference image.
type picture struct{}

func (picture) Open(context.Context) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(dot)), nil
}

// fox is a request for n small images.
func fox(prompt string, n int, async bool) imagegen.GenerateRequest {
	return imagegen.GenerateRequest{Model: "m", Prompt: prompt, N: n, Size: imagegen.Size{Width: edge, Height: edge},
		Async: async}
}

// keyed makes a repetition safe.
func keyed(q imagegen.GenerateRequest) imagegen.GenerateRequest {
	q.IdempotencyKey = "key-of-" + q.Prompt
	return q
}

// repeatDoubtful has clients ask again where they do not know, and have a key.
func (w *world) repeatDoubtful() {
	for _, t := range w.clientOrders {
		if t.outcome == "" && t.request.IdempotencyKey != "" && !w.steps.gone() {
			w.ask(w.Context(), t)
		}
	}
}
