package router

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/imagegend/imagegend/imagegen"
)

// savedJob is what the router saves as its job: a member's job, and what the member was
// asked for.
type savedJob struct {
	Member   string `json:"member"`             // its name
	Upstream string `json:"upstream,omitempty"` // Member.Upstream when it was saved
	Key      string `json:"key"`                // of the request that the member got
	N        int    `json:"n"`                  // of that request
	Job      []byte `json:"job"`                // what the member saved
}

// parseJob reads what a router has saved. Anything else is an error of ClassUnknown: work may
// go on at an upstream that nobody knows.
func parseJob(job []byte) (t savedJob, err error) {
	if err := json.Unmarshal(job, &t); err != nil || t.Member == "" || t.N < 1 || t.Job == nil {
		return t, &imagegen.ProviderError{Class: imagegen.ClassUnknown,
			Message: "the upstream job was not saved by a router; offer the model as it was when the generation began",
			Err:     err}
	}
	return t, nil
}

// owner finds the member that saved a job. No other member may continue it.
func (p *Provider) owner(t savedJob) (*member, error) {
	m := p.member(t.Member)
	switch {
	case m == nil:
		return nil, &imagegen.ProviderError{Class: imagegen.ClassUnknown,
			Message: fmt.Sprintf("the upstream job belongs to member %q, which the router no longer has; configure it again", t.Member)}
	case m.upstream != t.Upstream:
		return nil, &imagegen.ProviderError{Class: imagegen.ClassUnknown,
			Message: fmt.Sprintf("the upstream job belongs to member %q when it was %q, but it is %q now", t.Member,
				t.Upstream, m.upstream)}
	}
	return m, nil
}

// jobs saves the members' jobs, of which there is at most one at a time. It is safe for concurrent use.
type jobs struct {
	save func(context.Context, []byte) error

	mu      sync.Mutex // guards the fields below; also held while saving
	open    bool       // a member has saved a job and not forgotten it
	unsaved bool       // the last job could not be saved
}

// saverFor returns the SaveJob for a member that is asked for r.
func (j *jobs) saverFor(m *member, r imagegen.ProviderRequest) func(context.Context, []byte) error {
	return func(ctx context.Context, job []byte) error {
		j.mu.Lock() // until it is saved, so that calls take effect in their order
		defer j.mu.Unlock()
		var raw []byte
		if job != nil {
			j.open = true
			var err error
			if raw, err = json.Marshal(savedJob{Member: m.name, Upstream: m.upstream, Key: r.Key, N: r.N,
				Job: job}); err != nil {
				return err
			}
		}
		err := j.save(ctx, raw)
		j.unsaved = err != nil
		if job == nil && err == nil {
			j.open = false
		}
		return err
	}
}

// isOpen reports whether an upstream may be working on a job of a member.
func (j *jobs) isOpen() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.open
}

// isUnsaved reports whether a job could not be saved, which is not the member's fault.
func (j *jobs) isUnsaved() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.unsaved
}
