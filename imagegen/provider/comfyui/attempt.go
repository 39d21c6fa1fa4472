package comfyui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// attempt is one call of Generate; it belongs to one goroutine. ComfyUI runs prompts one at a time, in
// the order in which they arrive. So all of them are submitted at once, with the same uploads, and
// then awaited in turn.
type attempt struct {
	*Provider
	request imagegen.ProviderRequest
	yield   func(imagegen.ProviderImage, error) bool
	job     job
	doubts  map[string]error // of prompts: why nobody knows whether ComfyUI took them
}

// job lists the prompts that were submitted, or were about to be, and have not failed. It is saved before each
// submission, so that a later attempt can look for a prompt whose submission was not answered.
type job struct {
	Prompts []string `json:"prompts"`
}

// run returns nil if yield wants no more.
func (a *attempt) run(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if a.request.Job != nil {
		if err := json.Unmarshal(a.request.Job, &a.job); err != nil {
			return &imagegen.ProviderError{Class: imagegen.ClassUnknown, Message: "the saved job cannot be read", Err: err}
		}
	}
	failed := a.submit(ctx)
	if len(a.job.Prompts) == 0 {
		return failed
	}
	return a.collect(ctx, failed)
}

// submit submits the prompts that no earlier attempt has submitted. It may fail after some of them: those stay in the
// job and are collected.
func (a *attempt) submit(ctx context.Context) error {
	if err := a.can.Refuses(a.request); err != nil {
		return err
	}
	w := a.workflows[takes{len(a.request.References), a.request.Mask != nil}]
	submissions := a.request.N
	if w.batch {
		submissions = 1
	}
	if len(a.job.Prompts) >= submissions {
		return nil
	}
	values, err := a.values(ctx)
	if err != nil {
		return err
	}
	for len(a.job.Prompts) < submissions {
		if err := a.enqueue(ctx, w, values); err != nil {
			return err
		}
	}
	return nil
}

// giveUp cancels what was submitted when the job cannot be saved. If another attempt owns the job
// (ErrStale), the prompts that the saved job names are left to it; it does not name the last one yet.
func (a *attempt) giveUp(ctx context.Context, why error, submitted bool) {
	named, last := a.job.Prompts[:len(a.job.Prompts)-1], a.job.Prompts[len(a.job.Prompts)-1:]
	if errors.Is(why, imagegen.ErrStale) {
		named = nil
	}
	if !submitted {
		last = nil
	}
	a.abandon(ctx, slices.Concat(named, last))
	a.job.Prompts = nil
}

// saving is how long saving may take once the context has ended.
const saving = 5 * time.Second

// save also saves when the context has ended: a prompt that no job names would be submitted again.
func (a *attempt) save(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saving)
	defer cancel()
	if len(a.job.Prompts) == 0 {
		return a.request.SaveJob(ctx, nil)
	}
	saved, err := json.Marshal(a.job)
	if err != nil {
		return fmt.Errorf("comfyui: encoding the job: %w", err)
	}
	return a.request.SaveJob(ctx, saved)
}

// forget keeps a later attempt from waiting for what will not come.
func (a *attempt) forget(ctx context.Context, ids ...string) error {
	a.job.Prompts = slices.DeleteFunc(a.job.Prompts, func(id string) bool { return slices.Contains(ids, id) })
	return a.save(ctx)
}

// collect yields the pictures of one prompt after the other, in the order that ComfyUI runs them.
// What fails one does not cost the others; the error that it returns is the least safe to try again.
func (a *attempt) collect(ctx context.Context, failed error) error {
	prompts := slices.Clone(a.job.Prompts)
	for i, id := range prompts {
		end, err := a.await(ctx, id)
		if ctx.Err() != nil {
			return a.cancelled(ctx, prompts[i:])
		}
		if doubt := a.doubts[id]; doubt != nil && end.err == error(errForgotten) {
			end.err = doubt // it says more
		}
		failed = upstream.LessSafeToRetry(upstream.LessSafeToRetry(failed, err), end.err)
		if end.err != nil {
			if err := a.forget(ctx, id); err != nil {
				a.abandon(ctx, prompts[i+1:])
				return err
			}
		}
		wanted, err := a.deliver(ctx, end.pictures[:min(a.request.N, len(end.pictures))])
		if ctx.Err() != nil {
			return a.cancelled(ctx, prompts[i+1:])
		}
		if !wanted {
			a.drop(ctx, prompts[i+1:])
			return nil
		}
		failed = upstream.LessSafeToRetry(failed, err)
	}
	return failed
}

// deliver fetches pictures and yields them, until no more are wanted.
func (a *attempt) deliver(ctx context.Context, pictures []picture) (wanted bool, failed error) {
	for _, f := range pictures {
		body, err := a.open(ctx, f)
		if err != nil {
			failed = err
			continue
		}
		wanted := a.yield(imagegen.ProviderImage{Body: body}, nil)
		body.Close()
		if !wanted {
			return false, nil
		}
	}
	return true, failed
}

// cancelled cancels prompts, unless another attempt will ask for them.
func (a *attempt) cancelled(ctx context.Context, prompts []string) error {
	if !upstream.Continued(ctx) {
		a.abandon(ctx, prompts)
	}
	return context.Cause(ctx)
}

// drop cancels prompts that nobody waits for. Should the images so far be refused for a reason that
// passes, the next attempt submits them again.
func (a *attempt) drop(ctx context.Context, prompts []string) {
	if len(prompts) == 0 {
		return
	}
	a.abandon(ctx, prompts)
	a.forget(ctx, prompts...) // nobody takes an error any more
}
