package console

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// auditing is the audit that the console has asked for and that is under way.
type auditing struct {
	mu    sync.Mutex
	since time.Time // zero: none is
}

// start runs f in the background, and reports whether it does: one may run already.
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

// Since is when the audit that is under way began; zero: none is.
func (a *auditing) Since() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.since
}

// startAudit has the books and the images checked while the operator goes on.
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

// audit makes an error of a panic: the process goes on, whatever an implementation does.
func (c *Console) audit(ctx context.Context) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("console: the audit panicked: %v", v)
		}
	}()
	_, err = c.cfg.Operations.Audit(ctx)
	return err
}
