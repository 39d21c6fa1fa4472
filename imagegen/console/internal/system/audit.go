package system

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
)

// runningAudit is the audit that the console has started, if one is running. Only this process knows of it.
type runningAudit struct {
	mu    sync.Mutex
	since time.Time // when it began; zero: none is running. Guarded by mu
}

// start runs f in a goroutine of its own, unless another is running, and reports whether it does. The goroutine ends
// with f; nothing waits for it.
func (a *runningAudit) start(now time.Time, f func()) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.since.IsZero() {
		return false
	}
	a.since = now
	go func() {
		defer a.setSince(time.Time{})
		f()
	}()
	return true
}

func (a *runningAudit) setSince(t time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.since = t
}

// Since is when the running audit began; zero: none is running.
func (a *runningAudit) Since() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.since
}

// StartAudit starts an audit that outlives the request. The page polls AuditState for its end.
func (s *Pages) StartAudit(p *frame.Page) error {
	if s.Operations == nil {
		return imagegen.ErrNotFound
	}
	ctx := context.WithoutCancel(p.Context())
	started := s.audit.start(p.Now, func() {
		if err := s.runAudit(ctx); err != nil {
			p.Log.ErrorContext(ctx, "the audit could not be carried out", "user", p.Person.ID, "error", err)
		}
	})
	if !started {
		return p.RedirectWith("An audit is under way already.", "system")
	}
	return p.RedirectWith("An audit has begun.", "system")
}

// runAudit runs an audit and turns a panic into an error: nothing else would recover it in that goroutine, and
// the process would end.
func (s *Pages) runAudit(ctx context.Context) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("console: the audit panicked: %v", v)
		}
	}()
	_, err = s.Operations.Audit(ctx)
	return err
}
