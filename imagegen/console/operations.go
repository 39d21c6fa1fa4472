package console

import (
	"context"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/system"
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

// Low reports whether so little space is free that no work is taken.
func (d Disk) Low() bool { return d.Free < d.Reserve }

// operations shows the pages an Operations.
type operations struct{ Operations }

func (o operations) Status(ctx context.Context) (system.Status, error) {
	s, err := o.Operations.Status(ctx)
	v := system.Status{Version: s.Version, Started: s.Started, NotReady: s.NotReady, Warnings: s.Warnings,
		Queued: s.Queued, Running: s.Running, Slots: s.Slots, OpenCharges: s.OpenCharges, Disputes: s.Disputes,
		Disk: system.Disk(s.Disk), Providers: s.Providers, LastAudit: s.LastAudit, Backups: system.Backups(s.Backups)}
	for _, c := range s.Charges {
		v.Charges = append(v.Charges, system.OpenCharge(c))
	}
	for _, d := range s.Disputed {
		v.Disputed = append(v.Disputed, system.Disputed{OpenCharge: system.OpenCharge(d.OpenCharge), Reason: d.Reason})
	}
	return v, err
}

// chargesShown is how many open charges a Status lists.
const chargesShown = 20

// EngineOperations implements [Operations] for an engine in this process. The engine's Store must be an
// [imagegen.Inspector]; otherwise Status and Audit fail with [errors.ErrUnsupported]. Status.LastAudit is the last
// audit of this engine, regardless of who started it.
type EngineOperations struct {
	Engine  *engine.Engine
	Version string    // of the program; "": it is not shown
	Started time.Time // when the process started; zero: it is not shown
	// Disk returns the space of the volume that holds the data. If it fails, so does Status. nil: it is not shown.
	Disk func() (Disk, error)
	// Backups returns the state of scheduled backups. nil: none are scheduled.
	Backups func() Backups
}

var _ Operations = EngineOperations{}

// Status implements [Operations].
func (o EngineOperations) Status(ctx context.Context) (Status, error) {
	s := Status{Version: o.Version, Started: o.Started, Providers: o.Engine.Health(), LastAudit: o.Engine.LastAudit()}
	load, err := o.Engine.Load(ctx)
	if err != nil {
		return s, err
	}
	s.Queued, s.Running, s.Slots = load.Queued+load.Waiting, load.Running, load.Slots
	records, total, err := o.Engine.Unsettled(ctx, "", chargesShown)
	if err != nil {
		return s, err
	}
	s.OpenCharges = total
	for _, r := range records {
		s.Charges = append(s.Charges, openCharge(r))
	}
	if records, s.Disputes, err = o.Engine.Disputed(ctx, "", chargesShown); err != nil {
		return s, err
	}
	for _, r := range records {
		s.Disputed = append(s.Disputed, Disputed{openCharge(r), r.Dispute})
	}
	r := o.Engine.Readiness(ctx)
	s.NotReady, s.Warnings = details(r.Reasons), r.Warnings
	if o.Backups != nil {
		s.Backups = o.Backups()
	}
	if o.Disk != nil {
		s.Disk, err = o.Disk()
	}
	return s, err
}

func openCharge(r imagegen.Record) OpenCharge {
	return OpenCharge{Generation: r.ID, User: r.User, Credits: r.Charge().Credits, Since: r.CreatedAt}
}

// details joins the texts of notices; "" if there are none.
func details(notices []imagegen.Notice) string {
	var all []string
	for _, n := range notices {
		all = append(all, n.Detail)
	}
	return strings.Join(all, "; ")
}

// ConfirmClock implements [Operations].
func (o EngineOperations) ConfirmClock(ctx context.Context) error { return o.Engine.ConfirmClock(ctx) }

// Audit implements [Operations].
func (o EngineOperations) Audit(ctx context.Context) (imagegen.AuditReport, error) {
	return o.Engine.Audit(ctx)
}
