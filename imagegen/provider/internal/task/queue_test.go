package task_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/task"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// queue is an upstream after a script. The n-th task has the status address "n".
type queue struct {
	submit func(n int) error                                // nil: it is taken in
	poll   func(h string, asked int) (task.Progress, error) // nil: done with the image of its name
	fetch  func(address string, tried int) error            // nil: it is there
	cancel error                                            // of every request to cancel
	units  imagegen.Micros                                  // of every task

	uncancellable bool // tasks have no address for that

	mu        sync.Mutex
	submitted int
	wanted    int // images, of all tasks
	asked     map[string][]time.Time
	fetched   map[string]int
	cancelled []string
}

func (q *queue) Submit(ctx context.Context, r imagegen.ProviderRequest) (task.Handle, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.submitted++
	q.wanted += r.N
	if q.submit != nil {
		if err := q.submit(q.submitted); err != nil {
			return task.Handle{}, err
		}
	}
	h := task.Handle{Status: fmt.Sprint(q.submitted), Cancel: "cancel", Units: q.units}
	if q.uncancellable {
		h.Cancel = ""
	}
	return h, nil
}

func (q *queue) Poll(_ context.Context, h task.Handle) (task.Progress, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.asked == nil {
		q.asked = map[string][]time.Time{}
	}
	q.asked[h.Status] = append(q.asked[h.Status], time.Now())
	if q.poll == nil {
		return done("image " + h.Status), nil
	}
	return q.poll(h.Status, len(q.asked[h.Status]))
}

func (q *queue) Cancel(ctx context.Context, h task.Handle) error {
	if err := cmp.Or(ctx.Err(), q.cancel); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.cancelled = append(q.cancelled, h.Status)
	return nil
}

func (q *queue) Fetch(_ context.Context, address string) (io.ReadCloser, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.fetched == nil {
		q.fetched = map[string]int{}
	}
	q.fetched[address]++
	if q.fetch != nil {
		if err := q.fetch(address, q.fetched[address]); err != nil {
			return nil, err
		}
	}
	return io.NopCloser(bytes.NewReader([]byte(address))), nil
}

func done(images ...string) task.Progress { return task.Progress{Done: true, Images: images} }

func failed(c imagegen.Class) error { return &imagegen.ProviderError{Class: c, Message: "as scripted"} }

func answered(status int, retryAfter time.Duration) error {
	return &imagegen.ProviderError{Err: &upstream.StatusError{Status: status, RetryAfter: retryAfter}}
}

func never(string, int) (task.Progress, error) { return task.Progress{}, nil }

// journal is what SaveJob was called with.
type journal struct {
	mu   sync.Mutex
	jobs [][]byte
	err  error
}

func (j *journal) save(ctx context.Context, job []byte) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := cmp.Or(j.err, ctx.Err()); err != nil {
		return err
	}
	j.jobs = append(j.jobs, slices.Clone(job))
	return nil
}

func (j *journal) last() []byte {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.jobs) == 0 {
		return nil
	}
	return j.jobs[len(j.jobs)-1]
}

func runner(q *queue) *task.Runner {
	return &task.Runner{Queue: q, Name: "test", PerTask: 1, Interval: time.Second}
}

func request(n int, j *journal) imagegen.ProviderRequest {
	return imagegen.ProviderRequest{N: n, SaveJob: j.save, Job: j.last()}
}

func generate(ctx context.Context, r *task.Runner, q imagegen.ProviderRequest) upstream.Images {
	return upstream.Sequence(ctx, func(yield upstream.Yield) error { return r.Generate(ctx, q, yield) })
}

// collect returns the images, sorted, for tasks end in any order.
func collect(ctx context.Context, r *task.Runner, q imagegen.ProviderRequest) (images []string, ended error) {
	for i, err := range generate(ctx, r, q) {
		if err != nil {
			ended = err
			continue
		}
		raw, err := io.ReadAll(i.Body)
		if err != nil {
			return images, err
		}
		images = append(images, string(raw))
	}
	slices.Sort(images)
	return images, ended
}

func classOf(t *testing.T, err error) imagegen.Class {
	t.Helper()
	e, ok := errors.AsType[*imagegen.ProviderError](err)
	if !ok {
		t.Fatalf("%v is not a ProviderError", err)
	}
	return e.Class
}
