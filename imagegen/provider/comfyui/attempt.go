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

// attempt is one call of Generate; it belongs to one goroutine. ComfyUI runs prompts one at a time, in the order in
// which they arrive. So all of them are submitted first, with the same uploads, and then awaited one after the other.
type attempt struct {
	*Provider
	request imagegen.ProviderRequest
	yield   upstream.Yield
	job     job
	doubts  map[string]error // by prompt: why it is not known whether ComfyUI has it; nil while there is none
}

// job lists the prompts that were submitted, or were about to be, and have not failed. It is saved before each
// submission, so that a later attempt can look for a prompt whose submission was not answered.
type job struct {
	Prompts []string `json:"prompts"` // their ids, in the order of submission
}

// run makes the images and yields them. The prompts of an earlier attempt count as submitted.
// It returns nil if no more are wanted.
func (a *attempt) run(ctx context.Context) error {
	if a.request.Job != nil {
		if err := json.Unmarshal(a.request.Job, &a.job); err != nil {
			return &imagegen.ProviderError{Class: imagegen.ClassUnknown, Message: "the saved job cannot be read",
				Err: err}
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
	if err := a.can.Check(a.request); err != nil {
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

// giveUp cancels the prompts of the job when it cannot be saved, for the reason why. submitted says that the last of
// them was submitted too; the saved job does not name that one. If another attempt owns the job (ErrStale), the
// prompts that the saved job names are left to that attempt.
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

// saving is how long saving may take.
const saving = 5 * time.Second

// save saves the job, also when the context has ended: a prompt that no job names would be submitted again. Without
// prompts it saves that there is no job.
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

// forget removes prompts from the job, so that no later attempt waits for what will not come.
func (a *attempt) forget(ctx context.Context, ids ...string) error {
	a.job.Prompts = slices.DeleteFunc(a.job.Prompts, func(id string) bool { return slices.Contains(ids, id) })
	return a.save(ctx)
}

// collect yields the pictures of one prompt after the other, in the order in which ComfyUI runs them. A prompt that
// fails does not cost the others. failed is the error so far; of that and its own, collect returns the one after
// which a retry is least safe, or nil if no more are wanted.
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
		upstream.Report(a.request, imagegen.UpstreamUsage{Time: end.ran})
		wanted, err := upstream.Deliver(ctx, end.pictures, a.request.N, a.openPicture, a.yield)
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

// cancelled returns the cause of a context that has ended. It cancels prompts first, unless
// another attempt will continue with them.
func (a *attempt) cancelled(ctx context.Context, prompts []string) error {
	if !upstream.Continued(ctx) {
		a.abandon(ctx, prompts)
	}
	return context.Cause(ctx)
}

// drop cancels prompts whose images are not wanted, and removes them from the job. If there is
// another attempt, it submits them again.
func (a *attempt) drop(ctx context.Context, prompts []string) {
	if len(prompts) == 0 {
		return
	}
	a.abandon(ctx, prompts)
	a.forget(ctx, prompts...) // nobody takes an error any more
}
