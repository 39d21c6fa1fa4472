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

// Status is the state of the service at one moment. Operators see all of it, including the texts of errors.
type Status struct {
	Version     string            // of the program; "": it is not shown
	Started     time.Time         // when the process started; zero: it is not shown
	NotReady    string            // why the service takes no work; "": it does
	Warnings    []imagegen.Notice // problems that do not stop the service, but that an operator should look at
	Queued      int               // generations that wait, synchronous and asynchronous
	Running     int               // attempts under way
	Slots       int               // how many attempts can be under way at once
	OpenCharges int               // how many open charges there are in all
	Charges     []OpenCharge      // the oldest open charges, oldest first
	Disputes    int               // how many charges in dispute there are in all
	Disputed    []Disputed        // the oldest charges in dispute, oldest first
	Disk        Disk
	Providers   []engine.ProviderHealth // one for each model
	LastAudit   *engine.Audit           // nil: none is known
	Backups     Backups
}

// OpenCharge is a generation whose charge is not settled yet.
type OpenCharge struct {
	Generation imagegen.GenerationID
	User       imagegen.UserID
	Credits    imagegen.Credits
	Since      time.Time
}

// Disputed is a generation whose charge the ledger refuses to close.
type Disputed struct {
	OpenCharge
	Reason string // the ledger's error
}

// Backups is the state of scheduled backups.
type Backups struct {
	Every   time.Duration // the interval; 0: none are scheduled
	Last    time.Time     // when the newest verified backup was made; zero: there is none
	Trouble string        // what is wrong, such as a failed or overdue backup; "": nothing is
}

// Disk is the space of the volume that holds the data, in bytes. The zero value is not shown.
type Disk struct {
	Free    int64 // available to the service
	Total   int64
	Reserve int64 // if less than this is free, no new work is taken
}

// level says by a CSS class how little of the disk is free; "": it is enough.
func level(d Disk) string {
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
	"failures": failures, "faults": faults, "level": level, "outcome": outcome, "violations": violations}}

// failures is the share of generations that failed, among those that were not cancelled.
func failures(s imagegen.UsageSums) string { return format.Share(s.Failed, s.Generations-s.Cancelled) }
