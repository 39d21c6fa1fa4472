package system

import (
	"context"
	"fmt"

	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
)

// StartAudit starts an audit that outlives the request, unless one that was started here is under way. Nothing waits
// for it; the page polls AuditState for its end.
func (s *Pages) StartAudit(p *frame.Page) error {
	since := p.Now
	if !s.auditing.CompareAndSwap(nil, &since) {
		return p.RedirectWith("An audit is under way already.", "system")
	}
	ctx := context.WithoutCancel(p.Context())
	go func() {
		defer s.auditing.Store(nil)
		if err := s.runAudit(ctx); err != nil {
			p.Log.ErrorContext(ctx, "the audit could not be carried out", "user", p.Person.ID, "error", err)
		}
	}()
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
