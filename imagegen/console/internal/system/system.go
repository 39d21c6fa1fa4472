package system

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// systemView is the data of system.html.
type systemView struct {
	Status
	Now      time.Time
	Auditing time.Time // when the running audit began; zero: none that was started here is running
	Charges  []chargeLine
	Disputed []chargeLine
}

// chargeLine is an open charge with its user's name.
type chargeLine struct {
	OpenCharge
	Name   string // "": the user is not known here
	Reason string // of a charge in dispute
}

// System shows the state of the service, as this process knows it.
func (s *Pages) System(p *frame.Page) error {
	v, err := s.systemView(p)
	if err != nil {
		return err
	}
	for _, o := range v.Status.Charges {
		v.Charges = append(v.Charges, chargeLine{o, p.UserName(o.User), ""})
	}
	for _, d := range v.Status.Disputed {
		v.Disputed = append(v.Disputed, chargeLine{d.OpenCharge, p.UserName(d.User), d.Reason})
	}
	return p.Render("system", v)
}

// systemView returns what both the page and the fragment with the audit need.
func (s *Pages) systemView(p *frame.Page) (systemView, error) {
	status, err := s.Operations.Status(p.Context())
	v := systemView{Status: status, Now: p.Now}
	if since := s.auditing.Load(); since != nil {
		v.Auditing = *since
	}
	return v, err
}

// StartAudit starts an audit that outlives the request, unless one that was started here is under way. Nothing waits
// for it; the page polls AuditState for its end.
func (s *Pages) StartAudit(p *frame.Page) error {
	since := p.Now
	if !s.auditing.CompareAndSwap(nil, &since) {
		return p.RedirectWith("An audit is under way already.", "system")
	}
	ctx := context.WithoutCancel(p.Context())
	go func() {
		defer s.auditing.Store(nil)
		if err := s.runAudit(ctx); err != nil {
			p.Log.ErrorContext(ctx, "the audit could not be carried out", "user", p.Person.ID, "error", err)
		}
	}()
	return p.RedirectWith("An audit has begun.", "system")
}

// runAudit runs an audit and turns a panic into an error: nothing else would recover it in that goroutine, and
// the process would end.
func (s *Pages) runAudit(ctx context.Context) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("console: the audit panicked: %v", v)
		}
	}()
	_, err = s.Operations.Audit(ctx)
	return err
}

// AuditState answers with the part of the page that changes while an audit is running.
func (s *Pages) AuditState(p *frame.Page) error {
	v, err := s.systemView(p)
	if err != nil {
		return err
	}
	return p.RenderBlock("system", "audit", v)
}

// faults says what is wrong with a provider and, if it is a router, with each of its members; "" if nothing is.
func faults(h engine.ProviderHealth) string {
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

// outcome is the result of an audit in a word, which is also a CSS class.
func outcome(a engine.Audit) string {
	switch {
	case a.Err != nil:
		return "failed"
	case a.Report.Clean():
		return "clean"
	}
	return "violations"
}

// violations is how many violations there are in all, including those that the report does not list.
func violations(r imagegen.AuditReport) int { return len(r.Violations) + r.More }

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
