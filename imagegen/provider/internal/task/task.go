// Package task drives upstreams that accept work, are polled for its progress, and hand out the images
// when it is done. A [Runner] runs the tasks of a request; a [Queue] is the upstream.
//
// Every task is saved in the job before its first poll, so that after a restart it is found again instead of being
// paid for twice. If an attempt ends before its tasks, they are cancelled at the upstream, since nobody will take their
// images; but not if another attempt continues the job, see [upstream.Continued].
package task

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// Handle is what a task is found again by. It is saved as part of the job.
type Handle struct {
	Status string `json:"status,omitempty"` // where to ask for the progress; never "" for a task that was started
	Result string `json:"result,omitempty"` // where the images are named; "": at Status
	Cancel string `json:"cancel,omitempty"` // where to cancel; "": there is no way to

	// Units are what the task costs, if the upstream said so when it took it in. They count once it has ended.
	Units imagegen.Micros `json:"units,omitempty"`
}

// Progress is the state of a task. The zero value is a task that is still running.
type Progress struct {
	Done   bool
	Images []string      // once done: their addresses
	Err    error         // once done: why images are missing, if that is known; with a transient class nothing was made
	Wait   time.Duration // how long the upstream asks to wait before the next poll; 0: it does not say

	Used imagegen.UpstreamUsage // once done: what the upstream says that it has used, beside Handle.Units
}

// Queue is an upstream. It is safe for concurrent use.
type Queue interface {
	// Submit starts a task that makes r.N images. An error of ClassUnknown means that the task may have been started;
	// after any other *imagegen.ProviderError it was not.
	Submit(ctx context.Context, r imagegen.ProviderRequest) (Handle, error)

	// Poll asks for the progress of a task. An error means that it could not be learned, not that the task failed.
	// Poll is then called again, unless the upstream has answered with a status that will not change.
	Poll(ctx context.Context, h Handle) (Progress, error)

	// Cancel ends a task if the upstream can; if it cannot, it does nothing. An error means that the task may go on.
	Cancel(ctx context.Context, h Handle) error

	// Fetch opens an image. The caller closes it.
	Fetch(ctx context.Context, address string) (io.ReadCloser, error)
}

// Runner makes images with a Queue. It keeps no state between calls and is safe for concurrent use.
type Runner struct {
	Queue    Queue
	Name     string        // of the provider: a job of another one is not continued
	PerTask  int           // the most images of a task, at least 1; for more there are several tasks
	Interval time.Duration // before the first poll; the pauses grow to ten times that
}

// Generate yields the images of r, as upstream.FanIn does. The tasks of a request run at once, each from its submission
// to its last image.
func (q *Runner) Generate(ctx context.Context, r imagegen.ProviderRequest, yield upstream.Yield) error {
	j, err := openJob(q.Name, (r.N+q.PerTask-1)/q.PerTask, r)
	if err != nil {
		return err
	}
	return upstream.FanIn(ctx, r, q.PerTask, yield,
		func(ctx context.Context, i int, part imagegen.ProviderRequest, yield upstream.Yield) error {
			p, err := q.finish(ctx, j, i, part)
			if err != nil {
				return err
			}
			// a surplus would take time to fetch
			wanted, failed := upstream.Deliver(ctx, p.Images, part.N, upstream.Patient(q.Queue.Fetch), yield)
			if failed == nil && wanted {
				failed = p.Err
			}
			return failed
		})
}

// finish starts a task, or continues the one that an earlier attempt started, and waits for its end. A task that ended
// with a transient error made nothing: it is removed from the job, so that a later attempt submits it again. What the
// task has used is reported, unless another attempt continues it.
func (q *Runner) finish(ctx context.Context, j *job, i int, r imagegen.ProviderRequest) (p Progress, err error) {
	h, started, err := j.task(i)
	if err != nil {
		return Progress{}, err
	}
	defer func() {
		if err == nil || !upstream.Continued(ctx) {
			p.Used.Units += h.Units
			p.Used.Surplus = int64(max(0, len(p.Images)-r.N))
			upstream.Report(r, p.Used)
		}
	}()
	if !started {
		if h, err = q.start(ctx, j, i, r); err != nil {
			return Progress{}, err
		}
	}
	p, err = q.await(ctx, h)
	if err != nil && !upstream.Continued(ctx) {
		q.abandon(ctx, j, i, h)
	}
	if e, ok := errors.AsType[*imagegen.ProviderError](p.Err); ok && e.Class.Transient() {
		if err := j.forget(ctx, i); err != nil { // or the next attempt would find this end again
			return Progress{}, err
		}
	}
	return p, err
}

// start submits a task and saves it. If it is not known whether the upstream accepted it, the job says that it is
// lost, and no later attempt submits it again. If the context ends during the submission, the job stays as it is.
func (q *Runner) start(ctx context.Context, j *job, i int, r imagegen.ProviderRequest) (Handle, error) {
	h, err := q.Queue.Submit(ctx, r)
	if ctx.Err() != nil && err != nil {
		return h, context.Cause(ctx)
	}
	if e, ok := errors.AsType[*imagegen.ProviderError](err); ok && e.Class == imagegen.ClassUnknown {
		return h, errors.Join(err, j.set(ctx, i, state{Lost: true}))
	}
	if err != nil {
		return h, err
	}
	if err := j.set(ctx, i, state{Handle: h}); err != nil {
		q.cancel(ctx, h) // no later attempt would find it
		return h, err
	}
	return h, nil
}

// abandon cancels a task whose images nobody will take. If the caller wanted no more, there can be another attempt, for
// instance because an image could not be stored. A task that was cancelled is therefore removed from the job, so that
// it is then submitted again; any other stays, and is continued.
func (q *Runner) abandon(ctx context.Context, j *job, i int, h Handle) {
	if q.cancel(ctx, h) && errors.Is(ctx.Err(), context.Canceled) {
		_ = j.forget(ctx, i) // nobody takes an error any more
	}
}

// cancelTime is how long the request that cancels a task may take.
const cancelTime = 3 * time.Second

// cancel cancels a task, also when ctx has ended, and reports whether the upstream has confirmed that. A failure is
// ignored: a task that goes on costs money, but does no harm.
func (q *Runner) cancel(ctx context.Context, h Handle) bool {
	ctx, end := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
	defer end()
	return q.Queue.Cancel(ctx, h) == nil && h.Cancel != ""
}
