package console

import (
	"context"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// Operations reports and controls the state of the service, for operators. It must be safe for concurrent use.
type Operations interface {
	// Status reports the state. It must be quick: each view of a page waits for it. If it fails, the page says that
	// something went wrong, and the error is logged.
	Status(ctx context.Context) (Status, error)
	// Audit checks the books and the images, as [imagegen.Inspector] does. It may take minutes. The console runs one
	// at a time, and its context outlives the request. The page does not show the report, but Status.LastAudit; an
	// error is logged.
	Audit(ctx context.Context) (imagegen.AuditReport, error)
	// ConfirmClock makes the service trust its wall clock after Status has warned with the code "clock". If the clock
	// is not in doubt, it does nothing.
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
