package console

import (
	"context"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// Operations is how the service does, for operators. It is safe for concurrent use.
type Operations interface {
	// Status looks at the service; it is quick. After an error the page says that something went wrong,
	// and the log says what.
	Status(ctx context.Context) (Status, error)
	// Audit checks the books and the images, as [imagegen.Inspector] does. It may take minutes; the
	// console asks for one at a time, and for longer than the request lasts. What it finds is shown
	// once Status tells of it as LastAudit; an error is logged.
	Audit(ctx context.Context) (imagegen.AuditReport, error)
	// ConfirmClock has the service believe its wall clock, which a warning of Status with the code "clock"
	// doubts. Where nothing is in doubt it does nothing.
	ConfirmClock(ctx context.Context) error
}

// Status is the state of the service at one moment. An operator sees it as it is, reasons and all.
type Status struct {
	Version     string            // of the program; "": it is not shown
	Started     time.Time         // when the process was; zero: it is not shown
	NotReady    string            // why no work is taken; "": it is
	Warnings    []imagegen.Notice // what an operator should see to, though work is taken
	Queued      int               // generations that wait
	Running     int               // generations under way
	Slots       int               // how many can be under way at once
	OpenCharges int               // how many there are in all
	Charges     []OpenCharge      // the oldest of them, oldest first
	Disputes    int               // how many charges the ledger refuses to close
	Disputed    []Disputed        // the oldest of them, oldest first
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
	Reason string // what the ledger said
}

// Backups are those that the service makes of itself.
type Backups struct {
	Every   time.Duration // 0: it makes none
	Last    time.Time     // when the newest good one was made; zero: there is none
	Trouble string        // why there is none that is newer; "": all is well
}

// Disk is the space where the data lie, in bytes. The zero value is not shown.
type Disk struct {
	Free    int64 // that can be written
	Total   int64
	Reserve int64 // with less free no new work is taken
}
