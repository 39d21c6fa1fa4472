package crash_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// told is what a client was told of one request, by whichever process.
type told struct {
	user    imagegen.UserID
	request imagegen.GenerateRequest
	outcome outcome
	result  imagegen.Result       // of accepted and succeeded
	failed  imagegen.GenerationID // of failed
	erased  bool                  // it was told that the generation is gone
	doubt   bool                  // it was once told that the outcome is unknown, or nothing
	seen    imagegen.Generation   // as it had ended when a client looked
}

type outcome string

const (
	unheard   outcome = "" // nothing, or that the outcome is unknown
	accepted  outcome = "accepted"
	succeeded outcome = "succeeded"
	failed    outcome = "failed"
	refused   outcome = "refused" // and nothing is recorded
)

// generate asks for images and keeps what was told.
func (w *world) generate(ctx context.Context, u imagegen.UserID, q imagegen.GenerateRequest) *told {
	t := &told{user: u, request: q}
	w.told = append(w.told, t)
	w.ask(ctx, t)
	return t
}

// ask sends the request of t, once more if it was sent before. It reports whether images were
// promised or delivered: a refusal of the repetition takes nothing back.
func (w *world) ask(ctx context.Context, t *told) (served bool) {
	q := t.request
	if w.references {
		q.References = []imagegen.Reference{picture{}}
	}
	result, err := w.engine.As(t.user).Generate(ctx, q)
	if w.steps.gone() {
		t.doubt = true
		return false // nobody was told
	}
	e, _ := errors.AsType[*imagegen.Error](err)
	switch {
	case err == nil && q.Async:
		t.outcome, t.result = accepted, result
		return true
	case err == nil:
		t.outcome, t.result = succeeded, result
		return true
	case errors.Is(err, imagegen.ErrGenerationFailed):
		t.outcome, t.failed = failed, e.Generation
	case errors.Is(err, imagegen.ErrOverloaded), errors.Is(err, imagegen.ErrInsufficientCredits), errors.Is(err, imagegen.ErrInvalidRequest):
		w.refused(t)
	case e != nil && e.Code == imagegen.CodeInternal, errors.Is(err, imagegen.ErrIdempotencyKeyInUse), ctx.Err() != nil:
		t.doubt = true
	default:
		w.Errorf("an error without a meaning: %v", err)
	}
	return false
}

// refused keeps a refusal. By then nothing is held for it.
func (w *world) refused(t *told) {
	if t.outcome != unheard {
		return // of the repetition
	}
	t.outcome = refused
	if held := w.held(t.user); held > 0 && !t.doubt && w.steps.name != "Settle" { // what could not be voided, recovery voids
		w.Errorf("%q was refused, and %d credits are held", t.request.Prompt, held)
	}
}

// follow has a client ask for what was accepted until it has ended, and look at its images.
func (w *world) follow(t *told) {
	for range 100 {
		g, err := w.engine.As(t.user).Generation(w.Context(), t.result.ID)
		switch {
		case w.steps.gone():
			return
		case errors.Is(err, imagegen.ErrNotFound):
			w.Errorf("%q was accepted, and is not found", t.request.Prompt)
			return
		case err == nil && g.Status.Terminal():
			t.seen = g
			w.list(t)
			w.look(g)
			return
		}
		time.Sleep(5 * time.Second)
	}
	w.Errorf("%q has not ended", t.request.Prompt)
}

// list has a client look it up among all that it has.
func (w *world) list(t *told) {
	p, err := w.engine.As(t.user).Generations(w.Context(), imagegen.Query{Limit: imagegen.MaxPageSize})
	if err == nil && (len(p.Generations) != 1 || p.Generations[0].ID != t.seen.ID) {
		w.Errorf("%q is not the one that is listed: %v", t.request.Prompt, p.Generations)
	}
}

// look has a client fetch the images.
func (w *world) look(g imagegen.Generation) {
	for _, i := range g.Images {
		f, err := w.engine.OpenImage(w.Context(), i.ID)
		if errors.Is(err, imagegen.ErrNotFound) {
			w.Errorf("image %s was seen, and is not found", i.ID)
		}
		if err != nil {
			continue
		}
		b, err := io.ReadAll(f)
		if err != nil || !bytes.Equal(b, dot) {
			w.Errorf("image %s has other bytes: %v", i.ID, err)
		}
		f.Close()
	}
}

// picture is a reference image.
type picture struct{}

func (picture) Open(context.Context) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(dot)), nil
}

// fox is a request for n small images.
func fox(prompt string, n int, async bool) imagegen.GenerateRequest {
	return imagegen.GenerateRequest{Model: "m", Prompt: prompt, N: n, Size: imagegen.Size{Width: edge, Height: edge}, Async: async}
}

// keyed makes a repetition safe.
func keyed(q imagegen.GenerateRequest) imagegen.GenerateRequest {
	q.IdempotencyKey = "key-of-" + q.Prompt
	return q
}

// repeatDoubtful has clients ask again where they do not know, and have a key.
func (w *world) repeatDoubtful() {
	for _, t := range w.told {
		if t.outcome == unheard && t.request.IdempotencyKey != "" && !w.steps.gone() {
			w.ask(w.Context(), t)
		}
	}
}
