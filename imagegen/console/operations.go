package console

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// chargesShown is how many open charges a Status lists.
const chargesShown = 20

// EngineOperations are the [Operations] of an engine in this process. Its Store must be an
// [imagegen.Inspector], and for audits an [imagegen.Auditor]; otherwise they fail with
// [errors.ErrUnsupported]. It knows the audits that the engine has made itself.
type EngineOperations struct {
	Engine  *imagegen.Engine
	Version string    // of the program; "": it is not shown
	Started time.Time // when the process was; zero: it is not shown
	// Disk is asked for the space where the data lie. nil: it is not shown. An error is that of Status.
	Disk func() (Disk, error)
}

var _ Operations = EngineOperations{}

// Status implements [Operations].
func (o EngineOperations) Status(ctx context.Context) (Status, error) {
	s := Status{Version: o.Version, Started: o.Started, Providers: o.providers(), LastAudit: o.lastAudit()}
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
		s.Charges = append(s.Charges, OpenCharge{Generation: r.ID, User: r.User, Credits: r.Charge().Credits, Since: r.CreatedAt})
	}
	if err := o.Engine.Ready(ctx); err != nil {
		s.NotReady = err.Error()
	}
	if o.Disk != nil {
		s.Disk, err = o.Disk()
	}
	return s, err
}

// Audit implements [Operations].
func (o EngineOperations) Audit(ctx context.Context) (imagegen.AuditReport, error) {
	return o.Engine.Audit(ctx)
}

func (o EngineOperations) lastAudit() *Audit {
	last := o.Engine.LastAudit()
	if last == nil {
		return nil
	}
	a := &Audit{At: last.At, Duration: last.Duration, Report: last.Report}
	if last.Err != nil {
		a.Failure = last.Err.Error()
	}
	return a
}

func (o EngineOperations) providers() []ProviderHealth {
	var all []ProviderHealth
	for _, h := range o.Engine.Health() {
		all = append(all, ProviderHealth{Model: h.Model, Name: h.Provider, At: h.At, Healthy: h.Healthy, Detail: detail(h)})
	}
	return all
}

// detail says what is wrong with a provider, and with each of those behind it.
func detail(h imagegen.ProviderHealth) string {
	var parts []string
	if h.Detail != "" {
		parts = append(parts, h.Detail)
	}
	for _, m := range h.Members {
		if !m.Healthy {
			parts = append(parts, fmt.Sprintf("%s: %s", m.Name, m.Detail))
		}
	}
	return strings.Join(parts, "; ")
}
