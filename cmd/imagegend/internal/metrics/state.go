package metrics

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/storage"
)

// Sources are read at each scrape. All are cheap but Engine.Unsettled, which is asked every openAge at most.
type Sources struct {
	Engine *engine.Engine
	Space  func() (storage.Space, error)
	// When the last good backup was made; zero: there is none. nil: none are made.
	Backup func() time.Time
}

// gauges are all that gauge has made: the registry refuses one that was not described to it.
var gauges []*prometheus.Desc

func gauge(name, help string, labels ...string) *prometheus.Desc {
	d := prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, labels, nil)
	gauges = append(gauges, d)
	return d
}

var (
	queued      = gauge("queue_length", "Asynchronous generations that wait.")
	queueOldest = gauge("queue_oldest_seconds",
		"Age of the oldest generation that waits; 0: none does. Up to 15 s old.")
	slots   = gauge("slots", "Attempts that can be under way at once.")
	used    = gauge("slots_used", "Attempts that are under way.")
	waiting = gauge("slot_waiters", "Synchronous calls that wait for a slot.")
	running = gauge("model_attempts", "Attempts under way, of a model.", "model")
	bound   = gauge("model_attempts_limit",
		"Attempts that may be under way at once, of a model: fewer while its upstream is overloaded.", "model")
	healthy = gauge("provider_healthy",
		"1: the last attempt went well, or failed through the request; of a router's member, 1: it is asked.", "model",
		"provider", "member")
	unsettled = gauge("unsettled_charges",
		"Charges that are open: of generations that wait, run, or are being settled. Up to 15 s old.")
	unsettledOldest = gauge("unsettled_oldest_seconds",
		"Age of the oldest open charge; 0: there is none. Up to 15 s old.")
	disputed   = gauge("disputed_charges", "Charges in dispute, for an operator to resolve. Up to 15 s old.")
	free       = gauge("disk_free_bytes", "Room on the disk of the data directory that the service can write.")
	total      = gauge("disk_size_bytes", "Size of that disk.")
	reserve    = gauge("disk_reserve_bytes", "Room below which no new work is taken.")
	ready      = gauge("ready", "1: work is taken.")
	reason     = gauge("not_ready_reason", "1 for each reason why no work is taken.", "reason")
	warning    = gauge("warning", "1 for each warning of readiness.", "warning")
	violations = gauge("audit_violations", "What the last audit of this process found; absent before the first.")
	auditedAt  = gauge("audit_timestamp_seconds", "When that audit ended.")
	backup     = gauge("backup_timestamp_seconds",
		"When the newest scheduled backup was made; absent where there is none.")
)

// state is a Collector of the gauges. It keeps no values: each scrape reads them.
type state struct {
	sources atomic.Pointer[Sources] // nil until the service has opened its data
	open    open
}

// watch has later scrapes read the sources. It may be called while a scrape is under way.
func (s *state) watch(of Sources) { s.sources.Store(&of) }

// Describe implements [prometheus.Collector].
func (*state) Describe(to chan<- *prometheus.Desc) {
	for _, d := range gauges {
		to <- d
	}
}

// scrapeTime bounds how long a scrape waits for the store.
const scrapeTime = 5 * time.Second

// Collect implements [prometheus.Collector]. A source that fails leaves its gauges out, so an alert sees that they
// are absent, and the others are there all the same.
func (s *state) Collect(to chan<- prometheus.Metric) {
	of := s.sources.Load()
	if of == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
	defer cancel()
	tell := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	load(ctx, of.Engine, tell)
	models(of.Engine, tell)
	s.charges(ctx, of.Engine, tell)
	readiness(ctx, of.Engine, tell)
	if space, err := of.Space(); err == nil {
		tell(free, float64(space.Free))
		tell(total, float64(space.Total))
		tell(reserve, float64(space.Reserve))
	}
	if of.Backup != nil && !of.Backup().IsZero() {
		tell(backup, float64(of.Backup().Unix()))
	}
	// Absent before the first audit: a 0 would claim that one was clean.
	if a := of.Engine.LastAudit(); a != nil && a.Err == nil {
		tell(violations, float64(len(a.Report.Violations)+a.Report.More))
		tell(auditedAt, float64(a.At.Unix()))
	}
}

// teller sends one gauge.
type teller = func(d *prometheus.Desc, v float64, labels ...string)

// load tells how busy the engine is. The queue is that of all nodes.
func load(ctx context.Context, e *engine.Engine, tell teller) {
	load, err := e.Load(ctx)
	if err != nil {
		return
	}
	tell(queued, float64(load.Queued))
	tell(slots, float64(load.Slots))
	tell(used, float64(load.Running))
	tell(waiting, float64(load.Waiting))
}

// models tells how each model does. A router has a line for itself and one for each member.
func models(e *engine.Engine, tell teller) {
	for _, h := range e.Health() {
		tell(running, float64(h.Load.Running), h.Model)
		tell(bound, float64(h.Load.Bound), h.Model)
		// A model without an attempt is neither healthy nor unhealthy.
		if !h.At.IsZero() {
			tell(healthy, truth(h.Healthy), h.Model, h.Provider, "")
		}
		for _, m := range h.Members {
			tell(healthy, truth(m.Healthy), h.Model, h.Provider, m.Name)
		}
	}
}

// charges tells of open charges, as they were counted up to openAge ago; ages are those of now.
func (s *state) charges(ctx context.Context, e *engine.Engine, tell teller) {
	found, ok := s.open.look(ctx, e)
	if !ok {
		return
	}
	now := time.Now()
	tell(unsettled, float64(found.charges))
	tell(unsettledOldest, age(now, found.oldest))
	tell(queueOldest, age(now, found.oldestQueued))
	tell(disputed, float64(found.disputes))
}

// readiness tells each code once: several members or models can give the same warning, and two metrics with the same
// labels fail the whole scrape.
func readiness(ctx context.Context, e *engine.Engine, tell teller) {
	r := e.Readiness(ctx)
	tell(ready, truth(r.Ready()))
	once := func(d *prometheus.Desc, notices []imagegen.Notice) {
		seen := make(map[string]bool)
		for _, n := range notices {
			if !seen[n.Code] {
				tell(d, 1, n.Code)
			}
			seen[n.Code] = true
		}
	}
	once(reason, r.Reasons)
	once(warning, r.Warnings)
}

// truth returns a condition as the value of a gauge.
func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// age returns how many seconds ago something was, 0 if there was nothing. It is never below 0, whatever the clock
// did.
func age(now, since time.Time) float64 {
	if since.IsZero() {
		return 0
	}
	return max(0, now.Sub(since).Seconds())
}
