package console

import (
	"context"
	"io"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// Engine is what the console asks of the engine; an *imagegen.Engine is one.
type Engine interface {
	As(u imagegen.UserID) *imagegen.Session
	Accounts() *imagegen.Accounts
	Models(ctx context.Context) ([]imagegen.ModelInfo, error)
	Stage(ctx context.Context, r io.Reader, name string) (*imagegen.Upload, error)
	OpenImage(ctx context.Context, id imagegen.ImageID) (*imagegen.ImageFile, error)
	// Record returns a generation, whosever it is: the caller checks that.
	Record(ctx context.Context, id imagegen.GenerationID) (imagegen.Record, error)
	// Erase removes a generation that has ended, whosever it is: the caller checks that.
	Erase(ctx context.Context, id imagegen.GenerationID) error
}

var _ Engine = (*imagegen.Engine)(nil)

// Operations is how the service does, for operators. It is safe for concurrent use.
type Operations interface {
	// Status looks at the service; it is quick. After an error the page says that something went wrong,
	// and the log says what.
	Status(ctx context.Context) (Status, error)
	// Audit checks the books and the images, as [imagegen.Auditor] does. It may take minutes; the
	// console asks for one at a time, and for longer than the request lasts. What it finds is shown
	// once Status tells of it as LastAudit; an error is logged.
	Audit(ctx context.Context) (imagegen.AuditReport, error)
}

// Status is the state of the service at one moment. An operator sees it as it is, reasons and all.
type Status struct {
	Version     string       // of the program; "": it is not shown
	Started     time.Time    // when the process was; zero: it is not shown
	NotReady    string       // why no work is taken; "": it is
	Queued      int          // generations that wait
	Running     int          // generations under way
	Slots       int          // how many can be under way at once
	OpenCharges int          // how many there are in all
	Charges     []OpenCharge // the oldest of them, oldest first
	Disk        Disk
	Providers   []ProviderHealth // one for each model
	LastAudit   *Audit           // nil: none is known
}

// OpenCharge is a generation whose charge is not settled yet.
type OpenCharge struct {
	Generation imagegen.GenerationID
	User       imagegen.UserID
	Credits    imagegen.Credits
	Since      time.Time
}

// Disk is the space where the data lie, in bytes. The zero value is not shown.
type Disk struct {
	Free    int64 // that can be written
	Total   int64
	Reserve int64 // with less free no new work is taken
}

// ProviderHealth tells how the provider of a model answers.
type ProviderHealth struct {
	Model   string
	Name    string    // of the provider
	At      time.Time // of its last answer; zero: none is known
	Healthy bool      // the last answer was a good one
	Detail  string    // in words for an operator; may be empty
}

// Audit is an audit that has ended.
type Audit struct {
	At       time.Time // when it ended
	Duration time.Duration
	Report   imagegen.AuditReport
	Failure  string // why it could not be carried out; "": it was
}
