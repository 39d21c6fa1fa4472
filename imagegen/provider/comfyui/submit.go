package comfyui

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	mathrand "math/rand/v2"
	"net/http"
	"path"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// values returns what the placeholders stand for, but for the seed. For that it uploads the references and the mask.
// The mask needs no conversion: a node LoadImageMask makes 1 of what is transparent in its alpha channel
// (Comfy-Org/ComfyUI, nodes.py).
func (a *attempt) values(ctx context.Context) (map[string]any, error) {
	r := a.request
	size, err := a.canvas.Size(r)
	if err != nil {
		return nil, err
	}
	values := map[string]any{"prompt": r.Prompt, "width": size.Width, "height": size.Height, "n": r.N,
		"steps": a.config.Steps.Of(r.Quality)}
	for i, reference := range r.References {
		if values[referenceName(i)], err = a.upload(ctx, reference); err != nil {
			return nil, err
		}
	}
	if r.Mask != nil {
		if values[maskName], err = a.upload(ctx, *r.Mask); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// upload stores a reference in ComfyUI's input directory and returns the name by which a LoadImage node finds it. An
// error that would be of ClassUnknown becomes one of ClassUnavailable: nothing was submitted with the reference.
func (a *attempt) upload(ctx context.Context, r imagegen.ProviderReference) (string, error) {
	name, err := a.store(ctx, r)
	if e, ok := errors.AsType[*imagegen.ProviderError](err); ok && e.Class == imagegen.ClassUnknown {
		return "", &imagegen.ProviderError{Class: imagegen.ClassUnavailable,
			Message: "a reference image could not be stored in ComfyUI", Err: err}
	}
	return name, err
}

func (a *attempt) store(ctx context.Context, r imagegen.ProviderReference) (string, error) {
	f := upstream.NewForm()
	f.File("image", r)
	f.Field("type", "input")
	f.Field("subfolder", a.folder())
	var stored struct{ Name, Subfolder string }
	decode := func(answer io.Reader) error { return upstream.Decode(ctx, answer, &stored) }
	if err := a.client.Read(ctx, http.MethodPost, "/upload/image", f.Body(), decode); err != nil {
		return "", err
	}
	if stored.Name == "" {
		return "", &imagegen.ProviderError{Class: imagegen.ClassUnknown,
			Message: "ComfyUI took a reference image and did not say under which name"}
	}
	return path.Join(stored.Subfolder, stored.Name), nil
}

// folder is where the generation's uploads are stored. ComfyUI compares a new file with those of the same name in its
// folder: with a folder for each generation these are few, and the files of an earlier attempt are not stored twice.
func (a *attempt) folder() string {
	key := sha256.Sum256([]byte(a.request.Key))
	return fmt.Sprintf("imagegend/%x", key[:16])
}

// enqueue submits the workflow once, with a seed of its own. It chooses the id and saves it first: should the answer
// be lost, or the service die, the prompt is found by its id (Comfy-Org/ComfyUI, server.py, post_prompt). It returns
// nil if ComfyUI has the prompt, or may have it: then doubts says why. After an error no more may be submitted; the
// prompts that are then in the job can still come.
func (a *attempt) enqueue(ctx context.Context, w workflow, values map[string]any) error {
	id := newID()
	a.job.Prompts = append(a.job.Prompts, id)
	if err := a.save(ctx); err != nil {
		a.giveUp(ctx, err, false)
		return err
	}
	if ctx.Err() != nil {
		return errors.Join(context.Cause(ctx), a.forget(ctx, id))
	}
	values = maps.Clone(values)
	values["seed"] = a.seed(len(a.job.Prompts) - 1)
	var answer json.RawMessage
	// Without a client, the history of versions before July 2026 lacks the pictures that came from ComfyUI's cache
	// (Comfy-Org/ComfyUI, pull request 14939).
	err := a.client.JSON(ctx, http.MethodPost, "/prompt", map[string]any{"prompt": w.substitute(values),
		"prompt_id": id, "client_id": id}, &answer)
	var queued struct {
		ID string `json:"prompt_id"`
	}
	json.Unmarshal(answer, &queued) // another shape names no id
	switch {
	case err != nil:
		return a.unanswered(ctx, id, err)
	case queued.ID == id:
		return nil
	case queued.ID == "":
		return a.unanswered(ctx, id, &imagegen.ProviderError{Class: imagegen.ClassUnknown,
			Message: "ComfyUI took the workflow and did not say under which id",
			Err:     fmt.Errorf("it answered: %s", upstream.Excerpt(answer))})
	}
	a.job.Prompts[len(a.job.Prompts)-1] = queued.ID // an older ComfyUI has ids of its own
	if err := a.save(ctx); err != nil {
		a.giveUp(ctx, err, true)
		return err
	}
	return nil
}

// seed is that of the i-th prompt. It has 32 bits, which every sampler takes.
func (a *attempt) seed(i int) int64 {
	if s := a.request.Options.Seed; s != nil {
		return *s + int64(i)
	}
	return int64(mathrand.Uint32())
}

// unanswered decides what becomes of a prompt whose submission failed. If the context has ended, it returns the
// error. If ComfyUI has certainly not taken the prompt, it also removes it from the job. Otherwise it returns nil and
// notes a doubt, and collect looks for the prompt.
func (a *attempt) unanswered(ctx context.Context, id string, err error) error {
	e, ok := errors.AsType[*imagegen.ProviderError](err)
	switch {
	case !ok: // the context has ended
		return err
	case e.Class != imagegen.ClassUnknown:
		return cmp.Or(a.forget(ctx, id), err)
	}
	if a.doubts == nil {
		a.doubts = map[string]error{}
	}
	a.doubts[id] = err
	return nil
}

// newID returns a random UUID (RFC 9562, version 4), since ComfyUI takes nothing else for an id.
func newID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
