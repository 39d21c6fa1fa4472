package console

import (
	"fmt"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// systemView is what system.html is given.
type systemView struct {
	Status
	Now      time.Time
	Auditing time.Time // since when an audit is under way; zero: none is
	Charges  []chargeLine
}

// chargeLine is an open charge with its user's name.
type chargeLine struct {
	OpenCharge
	Name string
	Age  string
}

func (c *Console) system(p *page) error {
	s, err := c.status(p)
	if err != nil {
		return err
	}
	v := systemView{Status: s, Now: p.now, Auditing: c.auditing.Since()}
	for _, o := range s.Charges {
		l := chargeLine{o, string(o.User), span(p.now.Sub(o.Since))}
		if u, err := c.cfg.Engine.Accounts().User(p.context(), o.User); err == nil {
			l.Name = u.Name // who is not known here belongs to the embedder
		}
		v.Charges = append(v.Charges, l)
	}
	return p.render("system", v)
}

// status asks how the service does, if there is somebody to ask.
func (c *Console) status(p *page) (Status, error) {
	if c.cfg.Operations == nil {
		return Status{}, imagegen.ErrNotFound
	}
	return c.cfg.Operations.Status(p.context())
}

// auditState is the part of the page that changes while an audit is under way.
func (c *Console) auditState(p *page) error {
	s, err := c.status(p)
	if err != nil {
		return err
	}
	return p.fragment("system", "audit", systemView{Status: s, Auditing: c.auditing.Since()})
}

// Uptime is how long the service has run.
func (v systemView) Uptime() string { return span(v.Now.Sub(v.Started)) }

// Low reports whether there is too little space to take work.
func (d Disk) Low() bool { return d.Free < d.Reserve }

// State says in a word that has a colour how the provider answers.
func (h ProviderHealth) State() string {
	if h.Healthy {
		return "healthy"
	}
	return "unhealthy"
}

// Took is how long the audit took.
func (a Audit) Took() string { return span(a.Duration) }

// Outcome is the result of the audit in a word that has a colour.
func (a Audit) Outcome() string {
	switch {
	case a.Failure != "":
		return "failed"
	case a.Report.Clean():
		return "clean"
	}
	return "violations"
}

// Found is how many violations there are in all.
func (a Audit) Found() int { return len(a.Report.Violations) + a.Report.More }

// span writes a duration as one would say it: its two largest units.
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

// space writes a number of bytes in the unit that fits it.
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
