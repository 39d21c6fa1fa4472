package imagegen

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Auditor is implemented by a Store that can check its own books.
type Auditor interface {
	// Audit replays the journal and checks every invariant, and every image's bytes against its
	// record. An error means that it could not be carried out.
	Audit(ctx context.Context) (AuditReport, error)
}

// AuditReport is what an audit went over and what it found.
type AuditReport struct {
	Entries     int // of the journal
	Accounts    int
	Lots        int
	Charges     int
	Generations int
	Images      int
	TrailRows   int         // of the audit trail
	Violations  []Violation // the first MaxViolations
	More        int         // violations beyond those
}

// MaxViolations is the most violations that a report lists.
const MaxViolations = 100

// Add takes a violation up: into the list, or beyond MaxViolations into the count of More.
func (r *AuditReport) Add(v Violation) {
	if len(r.Violations) == MaxViolations {
		r.More++
		return
	}
	r.Violations = append(r.Violations, v)
}

// Clean reports whether nothing was found.
func (r AuditReport) Clean() bool { return len(r.Violations) == 0 }

// Audit is an audit that has ended.
type Audit struct {
	At       time.Time // when it ended
	Duration time.Duration
	Report   AuditReport
	Err      error // why it could not be carried out; nil: it was
}

// audits remembers the last one.
type audits struct {
	mu   sync.Mutex
	last *Audit
}

// Audit has the Store check its own books, see [Auditor], and remembers what it found.
// [errors.ErrUnsupported] if the Store is no Auditor.
func (e *Engine) Audit(ctx context.Context) (AuditReport, error) {
	a, ok := e.store.(Auditor)
	if !ok {
		return AuditReport{}, fmt.Errorf("imagegen: the Store is no Auditor: %w", errors.ErrUnsupported)
	}
	began := time.Now()
	report, err := a.Audit(ctx)
	if ctx.Err() == nil { // one that was broken off says nothing
		e.audits.note(Audit{At: e.cfg.Now(), Duration: time.Since(began), Report: report, Err: err})
		err = errors.Join(err, e.note(ctx, report.trailRow(err)))
	}
	return report, err
}

// trailRow is what the audit trail says of an audit.
func (r AuditReport) trailRow(err error) TrailRow {
	if err != nil {
		return TrailRow{Act: ActDataAudit, After: err.Error(), Outcome: TrailFailed}
	}
	return TrailRow{Act: ActDataAudit, After: fmt.Sprintf("violations=%d", len(r.Violations)+r.More), Outcome: TrailDone}
}

// LastAudit returns the audit that ended last, of those that this engine has made; nil if there is none.
func (e *Engine) LastAudit() *Audit {
	e.audits.mu.Lock()
	defer e.audits.mu.Unlock()
	return e.audits.last
}

func (a *audits) note(ended Audit) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.last = &ended
}
