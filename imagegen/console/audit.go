package console

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// auditing is the audit that the console has started, if one is running. Only this process knows of it.
type auditing struct {
	mu    sync.Mutex
	since time.Time // when it began; zero: none is running. Guarded by mu
}

// start runs f in a goroutine of its own, unless another is running, and reports whether it does. The goroutine ends
// with f; nothing waits for it.
func (a *auditing) start(now time.Time, f func()) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.since.IsZero() {
		return false
	}
	a.since = now
	go func() {
		defer a.end()
		f()
	}()
	return true
}

func (a *auditing) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.since = time.Time{}
}

// Since is when the running audit began; zero: none is running.
func (a *auditing) Since() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.since
}

// startAudit starts an audit that outlives the request. The page polls auditState for its end.
func (c *Console) startAudit(p *page) error {
	if c.cfg.Operations == nil {
		return imagegen.ErrNotFound
	}
	ctx := context.WithoutCancel(p.context())
	begun := c.auditing.start(p.now, func() {
		if err := c.audit(ctx); err != nil {
			c.cfg.Log.ErrorContext(ctx, "the audit could not be carried out", "user", p.person.ID, "error", err)
		}
	})
	if !begun {
		return p.done("An audit is under way already.", "system")
	}
	return p.done("An audit has begun.", "system")
}

// audit runs an audit and turns a panic into an error: nothing else would recover it in that goroutine, and the process
// would end.
func (c *Console) audit(ctx context.Context) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("console: the audit panicked: %v", v)
		}
	}()
	_, err = c.cfg.Operations.Audit(ctx)
	return err
}
