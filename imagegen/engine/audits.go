package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// Audit is the result of an audit that has ended.
type Audit struct {
	At       time.Time // when it ended
	Duration time.Duration
	Report   imagegen.AuditReport
	Err      error // why it could not be carried out
}

// Audit calls the Audit of the Store, see [imagegen.Inspector], remembers the result for
// LastAudit, and writes it into the audit trail. An audit that ctx interrupts is not
// remembered. [errors.ErrUnsupported]: the Store is not an Inspector.
func (e *Engine) Audit(ctx context.Context) (imagegen.AuditReport, error) {
	a, ok := e.store.(imagegen.Inspector)
	if !ok {
		return imagegen.AuditReport{}, fmt.Errorf("imagegen: the Store is not an Inspector: %w", errors.ErrUnsupported)
	}
	began := time.Now()
	report, err := a.Audit(ctx)
	if ctx.Err() == nil { // one that was broken off says nothing
		e.lastAudit.Store(&Audit{At: e.cfg.Now(), Duration: time.Since(began), Report: report, Err: err})
		e.notifyObserver(ctx, imagegen.Event{Kind: imagegen.EventAudited, Duration: time.Since(began),
			Count: len(report.Violations) + report.More, Err: err})
		if t := e.Trail(); t != nil {
			err = errors.Join(err, t.Note(ctx, auditRow(report, err)))
		}
	}
	return report, err
}

// LastAudit returns the last audit that this engine has completed; nil if there is none. The
// caller must not change it.
func (e *Engine) LastAudit() *Audit { return e.lastAudit.Load() }

// auditRow is what the audit trail says of an audit.
func auditRow(r imagegen.AuditReport, err error) account.TrailRow {
	if err != nil {
		return account.TrailRow{Act: account.ActDataAudit, After: err.Error(), Outcome: account.TrailFailed}
	}
	return account.TrailRow{Act: account.ActDataAudit, After: fmt.Sprintf("violations=%d", len(r.Violations)+r.More),
		Outcome: account.TrailDone}
}
