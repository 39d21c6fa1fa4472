// Package system has the pages on which operators see how the service does.
package system

import (
	"context"
	"embed"
	"html/template"
	"sync/atomic"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/format"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
	"github.com/imagegend/imagegend/imagegen/console/internal/history"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// Operations is console.Operations.
type Operations interface {
	Status(ctx context.Context) (Status, error)
	Audit(ctx context.Context) (imagegen.AuditReport, error)
	ConfirmClock(ctx context.Context) error
}

// Status is console.Status, and so on for what it holds.
type (
	Status struct {
		Version     string
		Started     time.Time
		NotReady    string
		Warnings    []imagegen.Notice
		Queued      int
		Running     int
		Slots       int
		OpenCharges int
		Charges     []OpenCharge
		Disputes    int
		Disputed    []Disputed
		Disk        Disk
		Providers   []engine.ProviderHealth
		LastAudit   *engine.Audit
		Backups     Backups
	}
	OpenCharge struct {
		Generation imagegen.GenerationID
		User       imagegen.UserID
		Credits    imagegen.Credits
		Since      time.Time
	}
	Disputed struct {
		OpenCharge
		Reason string
	}
	Backups struct {
		Every   time.Duration
		Last    time.Time
		Trouble string
	}
	Disk struct{ Free, Total, Reserve int64 }
)

// Level says by a CSS class how little of the disk is free; "": it is enough.
func (d Disk) Level() string {
	switch {
	case d.Free < d.Reserve || d.Free < d.Total/20:
		return "failing"
	case d.Free < d.Total/10:
		return "warning"
	}
	return ""
}

// Pages are the pages of this room. They are safe for concurrent use.
type Pages struct {
	Operations Operations       // nil: there is no page about the state of the service
	History    *history.History // nil: the overview does not show upstreams
	Money      Money

	auditing  atomic.Pointer[time.Time] // since when an audit that was started here is running; nil: none is
	summaries summaries
}

//go:embed templates
var sources embed.FS

// Templates are those of the pages.
var Templates = frame.Templates{Files: sources, Functions: template.FuncMap{
	"failures": failures, "faults": faults, "outcome": outcome, "violations": violations}}

// failures is the share of generations that failed, among those that were not cancelled.
func failures(s imagegen.UsageSums) string { return format.Share(s.Failed, s.Generations-s.Cancelled) }
