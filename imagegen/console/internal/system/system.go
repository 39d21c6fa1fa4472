package system

import (
	"fmt"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen/console/internal/format"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// systemView is the data of system.html.
type systemView struct {
	Status
	Now       time.Time
	Auditing  time.Time // when the running audit began; zero: none that was started here is running
	Charges   []chargeLine
	Disputed  []chargeLine
	Providers []providerLine
	LastAudit *endedAudit
}

// chargeLine is an open charge with its user's name.
type chargeLine struct {
	OpenCharge
	Name   string // "": the user is not known here
	Age    string
	Reason string // of a charge in dispute
}

// providerLine is the health of a model's provider.
type providerLine struct{ engine.ProviderHealth }

// endedAudit is an audit that has ended.
type endedAudit struct{ *engine.Audit }

// System shows the state of the service, as this process knows it.
func (s *Pages) System(p *frame.Page) error {
	v, err := s.systemView(p)
	if err != nil {
		return err
	}
	for _, o := range v.Status.Charges {
		v.Charges = append(v.Charges, newChargeLine(p, o, ""))
	}
	for _, d := range v.Status.Disputed {
		v.Disputed = append(v.Disputed, newChargeLine(p, d.OpenCharge, d.Reason))
	}
	for _, h := range v.Status.Providers {
		v.Providers = append(v.Providers, providerLine{h})
	}
	return p.Render("system", v)
}

func newChargeLine(p *frame.Page, o OpenCharge, reason string) chargeLine {
	return chargeLine{o, p.UserName(o.User), format.Span(p.Now.Sub(o.Since)), reason}
}

// systemView returns what both the page and the fragment with the audit need.
func (s *Pages) systemView(p *frame.Page) (systemView, error) {
	status, err := s.Operations.Status(p.Context())
	v := systemView{Status: status, Now: p.Now}
	if since := s.auditing.Load(); since != nil {
		v.Auditing = *since
	}
	if status.LastAudit != nil {
		v.LastAudit = &endedAudit{status.LastAudit}
	}
	return v, err
}

// AuditState answers with the part of the page that changes while an audit is running.
func (s *Pages) AuditState(p *frame.Page) error {
	v, err := s.systemView(p)
	if err != nil {
		return err
	}
	return p.RenderBlock("system", "audit", v)
}

// Uptime is how long the service has run.
func (v systemView) Uptime() string { return format.Span(v.Now.Sub(v.Started)) }

// Faults says what is wrong with a provider and, if it is a router, with each of its members; "" if nothing is.
func (l providerLine) Faults() string {
	var parts []string
	if l.Detail != "" {
		parts = append(parts, l.Detail)
	}
	for _, m := range l.Members {
		if !m.Healthy {
			parts = append(parts, fmt.Sprintf("%s: %s", m.Name, m.Detail))
		}
	}
	return strings.Join(parts, "; ")
}

// Took is how long the audit took.
func (a endedAudit) Took() string { return format.Span(a.Duration) }

// Outcome is the result of the audit in a word, which is also a CSS class.
func (a endedAudit) Outcome() string {
	switch {
	case a.Err != nil:
		return "failed"
	case a.Report.Clean():
		return "clean"
	}
	return "violations"
}

// Found is how many violations there are in all, including those that the report does not list.
func (a endedAudit) Found() int { return len(a.Report.Violations) + a.Report.More }

// clockView is the data of clock.html.
type clockView struct {
	Now   time.Time
	Doubt string // why the clock is in doubt; "": it is trusted
}

// Clock asks an operator whether a clock in doubt is right. A person must confirm it, since what expires by a wrong
// clock is gone for good.
func (s *Pages) Clock(p *frame.Page) error {
	status, err := s.Operations.Status(p.Context())
	if err != nil {
		return err
	}
	v := clockView{Now: p.Now}
	for _, w := range status.Warnings {
		if w.Code == "clock" {
			v.Doubt = w.Detail
		}
	}
	return p.Render("clock", v)
}

// ConfirmClock makes the service trust its clock. If that is not in doubt, it changes nothing.
func (s *Pages) ConfirmClock(p *frame.Page) error {
	if err := s.Operations.ConfirmClock(p.Context()); err != nil {
		return err
	}
	return p.RedirectWith("The clock is trusted.", "system")
}
