package console

import (
	"fmt"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// systemView is the data of system.html.
type systemView struct {
	Status
	Now       time.Time
	Auditing  time.Time // when the running audit began; zero: none that was started here is running
	Charges   []chargeLine
	Disputed  []disputeLine
	Providers []providerLine
	LastAudit *endedAudit
}

// chargeLine is an open charge with its user's name.
type chargeLine struct {
	OpenCharge
	Name string // "": the user is not known here
	Age  string
}

// disputeLine is a charge in dispute with its user's name.
type disputeLine struct {
	chargeLine
	Reason string
}

// providerLine is the health of a model's provider.
type providerLine struct{ engine.ProviderHealth }

// endedAudit is an audit that has ended.
type endedAudit struct{ *engine.Audit }

// system shows the state of the service, as this process knows it.
func (c *Console) system(p *page) error {
	v, err := c.systemView(p)
	if err != nil {
		return err
	}
	for _, o := range v.Status.Charges {
		v.Charges = append(v.Charges, c.chargeLine(p, o))
	}
	for _, d := range v.Status.Disputed {
		v.Disputed = append(v.Disputed, disputeLine{c.chargeLine(p, d.OpenCharge), d.Reason})
	}
	for _, h := range v.Status.Providers {
		v.Providers = append(v.Providers, providerLine{h})
	}
	return p.render("system", v)
}

func (c *Console) chargeLine(p *page, o OpenCharge) chargeLine {
	return chargeLine{o, c.nameOf(p.context(), o.User), span(p.now.Sub(o.Since))}
}

// systemView returns what both the page and the fragment with the audit need.
func (c *Console) systemView(p *page) (systemView, error) {
	s, err := c.status(p)
	v := systemView{Status: s, Now: p.now, Auditing: c.auditing.Since()}
	if s.LastAudit != nil {
		v.LastAudit = &endedAudit{s.LastAudit}
	}
	return v, err
}

// status returns the state of the service. ErrNotFound: Config.Operations is nil.
func (c *Console) status(p *page) (Status, error) {
	if c.cfg.Operations == nil {
		return Status{}, imagegen.ErrNotFound
	}
	return c.cfg.Operations.Status(p.context())
}

// auditState answers with the part of the page that changes while an audit is running.
func (c *Console) auditState(p *page) error {
	v, err := c.systemView(p)
	if err != nil {
		return err
	}
	return p.fragment("system", "audit", v)
}

// Uptime is how long the service has run.
func (v systemView) Uptime() string { return span(v.Now.Sub(v.Started)) }

// Low reports whether so little space is free that no work is taken.
func (d Disk) Low() bool { return d.Free < d.Reserve }

// State says in a word, which is also a CSS class, how the provider answers.
func (l providerLine) State() string {
	if l.Healthy {
		return "healthy"
	}
	return "unhealthy"
}

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
func (a endedAudit) Took() string { return span(a.Duration) }

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

// span formats a duration with its two largest units: 2 h 5 min. A negative one counts as zero.
func span(d time.Duration) string {
	n := int(max(d, 0) / time.Second)
	switch {
	case n < 1:
		return "under 1 s"
	case n < 60:
		return fmt.Sprintf("%d s", n)
	case n < 60*60:
		return fmt.Sprintf("%d min %d s", n/60, n%60)
	case n < 24*60*60:
		return fmt.Sprintf("%d h %d min", n/3600, n/60%60)
	}
	return fmt.Sprintf("%s %d h", count(n/86400, "day", "days"), n/3600%24)
}

// ago says roughly how long before now something was, with the largest unit of span.
func ago(at, now time.Time) string {
	passed := now.Sub(at)
	if passed < time.Minute {
		return "just now"
	}
	words := strings.Fields(span(passed))
	return strings.Join(words[:2], " ") + " ago"
}

// space formats a number of bytes in the unit that fits.
func space(n int64) string {
	const unit = 1 << 10
	value, names := float64(n), "KMGTPE"
	if n < unit {
		return fmt.Sprintf("%d bytes", n)
	}
	i := -1
	for value >= unit {
		value /= unit
		i++
	}
	return fmt.Sprintf("%.1f %ciB", value, names[i])
}
