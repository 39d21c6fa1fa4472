package task

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// job is the state of a request's tasks, of which several run at once. Each change is saved. It
// is safe for concurrent use.
type job struct {
	save func(ctx context.Context, job []byte) error

	mu    sync.Mutex // also held while saving
	saved savedJob   // guarded by mu
}

// savedJob is the stored form of a job.
type savedJob struct {
	Provider string  `json:"provider"`
	Tasks    []state `json:"tasks"`
}

// state is the state of one task. The zero value means that it was not started, a Handle that it was. Lost means that
// its submission got no answer, so that it may have been started.
type state struct {
	Handle
	Lost bool `json:"lost,omitempty"`
}

// openJob reads r.Job, if there is one, for n tasks of a provider. A job of another provider, or with another number of
// tasks, is an error of ClassUnknown: it cannot be continued, and must not be submitted again.
func openJob(provider string, n int, r imagegen.ProviderRequest) (*job, error) {
	j := &job{save: r.SaveJob, saved: savedJob{Provider: provider, Tasks: make([]state, n)}}
	if r.Job == nil {
		return j, nil
	}
	var s savedJob
	if err := json.Unmarshal(r.Job, &s); err != nil {
		return nil, unfit(err)
	}
	if s.Provider != provider || len(s.Tasks) != n {
		return nil, unfit(fmt.Errorf("it holds %d tasks of provider %q, but there should be %d of %q", len(s.Tasks),
			s.Provider, n, provider))
	}
	j.saved = s
	return j, nil
}

func unfit(err error) error {
	return &imagegen.ProviderError{Class: imagegen.ClassUnknown, Message: "the saved job cannot be continued", Err: err}
}

// task returns the i-th task if it was started. If its submission was lost, it returns an error of ClassUnknown.
func (j *job) task(i int) (h Handle, started bool, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := j.saved.Tasks[i]
	if s.Lost {
		return Handle{}, false, &imagegen.ProviderError{Class: imagegen.ClassUnknown,
			Message: "an earlier attempt got no answer to its submission, which is not repeated"}
	}
	return s.Handle, s.Handle != Handle{}, nil
}

// forget saves that a task can be started again.
func (j *job) forget(ctx context.Context, i int) error { return j.set(ctx, i, state{}) }

// saveTime is how long saving may take.
const saveTime = 30 * time.Second

// set changes the state of the i-th task and saves the job, also if the context has ended: otherwise the new state
// would be lost. It holds the lock while it saves, so that states are stored in the order in which they were set.
// When no task has a state any more, it saves that there is no job.
func (j *job) set(ctx context.Context, i int, s state) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	j.mu.Lock()
	defer j.mu.Unlock()
	j.saved.Tasks[i] = s
	if !slices.ContainsFunc(j.saved.Tasks, func(s state) bool { return s != state{} }) {
		return j.save(ctx, nil)
	}
	raw, err := json.Marshal(j.saved)
	if err != nil {
		return err
	}
	return j.save(ctx, raw)
}
