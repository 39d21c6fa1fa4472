package metrics

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// Sources are read at each scrape. All are cheap but Engine.Unsettled, which is asked every openAge at most.
type Sources struct {
	Engine *engine.Engine // required
	// Disk is the room on the disk that holds the data, such as that of storage.DB.Space. nil: there are no such
	// gauges.
	Disk func() (Disk, error)
	// Backup is when the last good backup was made; the zero time: there is none. nil: none are made.
	Backup func() time.Time
}

// Disk is the room on a disk, in bytes. A storage.Space can be converted to it.
type Disk struct {
	Free    int64 // available to this process
	Total   int64
	Reserve int64 // if less than this is free, no new work is taken
}

// gauges is a Collector of them. It keeps no values: each scrape reads them.
type gauges struct {
	sources atomic.Pointer[Sources] // nil until Watch
	open    open
	all     []*prometheus.Desc // the registry refuses a gauge that was not described to it

	queued, queueOldest, slots, used, waiting *prometheus.Desc
	running, bound, healthy                   *prometheus.Desc
	unsettled, unsettledOldest, disputed      *prometheus.Desc
	free, total, reserve                      *prometheus.Desc
	ready, reason, warning                    *prometheus.Desc
	violations, auditedAt, backup             *prometheus.Desc
}

func newGauges() *gauges {
	g := new(gauges)
	gauge := func(name, help string, labels ...string) *prometheus.Desc {
		d := prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, labels, nil)
		g.all = append(g.all, d)
		return d
	}
	g.queued = gauge("queue_length", "Asynchronous generations that wait.")
	g.queueOldest = gauge("queue_oldest_seconds",
		"Age of the oldest generation that waits; 0: none does. Up to 15 s old.")
	g.slots = gauge("slots", "Attempts that can be under way at once.")
	g.used = gauge("slots_used", "Attempts that are under way.")
	g.waiting = gauge("slot_waiters", "Synchronous calls that wait for a slot.")
	g.running = gauge("model_attempts", "Attempts under way, of a model.", "model")
	g.bound = gauge("model_attempts_limit",
		"Attempts that may be under way at once, of a model: fewer while its upstream is overloaded.", "model")
	g.healthy = gauge("provider_healthy",
		"1: the last attempt went well, or failed through the request; of a router's member, 1: it is asked.", "model",
		"provider", "member")
	g.unsettled = gauge("unsettled_charges",
		"Charges that are open: of generations that wait, run, or are being settled. Up to 15 s old.")
	g.unsettledOldest = gauge("unsettled_oldest_seconds",
		"Age of the oldest open charge; 0: there is none. Up to 15 s old.")
	g.disputed = gauge("disputed_charges", "Charges in dispute, for an operator to resolve. Up to 15 s old.")
	g.free = gauge("disk_free_bytes", "Room on the disk of the data directory that the service can write.")
	g.total = gauge("disk_size_bytes", "Size of that disk.")
	g.reserve = gauge("disk_reserve_bytes", "Room below which no new work is taken.")
	g.ready = gauge("ready", "1: work is taken.")
	g.reason = gauge("not_ready_reason", "1 for each reason why no work is taken.", "reason")
	g.warning = gauge("warning", "1 for each warning of readiness.", "warning")
	g.violations = gauge("audit_violations", "What the last audit of this process found; absent before the first.")
	g.auditedAt = gauge("audit_timestamp_seconds", "When that audit ended.")
	g.backup = gauge("backup_timestamp_seconds",
		"When the newest scheduled backup was made; absent where there is none.")
	return g
}

// Describe implements [prometheus.Collector].
func (g *gauges) Describe(to chan<- *prometheus.Desc) {
	for _, d := range g.all {
		to <- d
	}
}

// scrapeTime bounds how long a scrape waits for the store.
const scrapeTime = 5 * time.Second

// Collect implements [prometheus.Collector]. A source that fails leaves its gauges out, so an alert sees that they
// are absent, and the others are there all the same.
func (g *gauges) Collect(to chan<- prometheus.Metric) {
	of := g.sources.Load()
	if of == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
	defer cancel()
	tell := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	g.load(ctx, of.Engine, tell)
	g.models(of.Engine, tell)
	g.charges(ctx, of.Engine, tell)
	g.readiness(ctx, of.Engine, tell)
	if of.Disk != nil {
		g.disk(of.Disk, tell)
	}
	if of.Backup != nil && !of.Backup().IsZero() {
		tell(g.backup, float64(of.Backup().Unix()))
	}
	// Absent before the first audit: a 0 would claim that one was clean.
	if a := of.Engine.LastAudit(); a != nil && a.Err == nil {
		tell(g.violations, float64(len(a.Report.Violations)+a.Report.More))
		tell(g.auditedAt, float64(a.At.Unix()))
	}
}

// teller sends one gauge.
type teller = func(d *prometheus.Desc, v float64, labels ...string)

// load tells how busy the engine is. The queue is that of all nodes.
func (g *gauges) load(ctx context.Context, e *engine.Engine, tell teller) {
	load, err := e.Load(ctx)
	if err != nil {
		return
	}
	tell(g.queued, float64(load.Queued))
	tell(g.slots, float64(load.Slots))
	tell(g.used, float64(load.Running))
	tell(g.waiting, float64(load.Waiting))
}

// models tells how each model does. A router has a line for itself and one for each member.
func (g *gauges) models(e *engine.Engine, tell teller) {
	for _, h := range e.Health() {
		tell(g.running, float64(h.Load.Running), h.Model)
		tell(g.bound, float64(h.Load.Bound), h.Model)
		// A model without an attempt is neither healthy nor unhealthy.
		if !h.At.IsZero() {
			tell(g.healthy, truth(h.Healthy), h.Model, h.Provider, "")
		}
		for _, m := range h.Members {
			tell(g.healthy, truth(m.Healthy), h.Model, h.Provider, m.Name)
		}
	}
}

// charges tells of open charges, as they were counted up to openAge ago; ages are those of now.
func (g *gauges) charges(ctx context.Context, e *engine.Engine, tell teller) {
	found, ok := g.open.look(ctx, e)
	if !ok {
		return
	}
	now := time.Now()
	tell(g.unsettled, float64(found.charges))
	tell(g.unsettledOldest, age(now, found.oldest))
	tell(g.queueOldest, age(now, found.oldestQueued))
	tell(g.disputed, float64(found.disputes))
}

// readiness tells each code once: several members or models can give the same warning, and two metrics with the same
// labels fail the whole scrape.
func (g *gauges) readiness(ctx context.Context, e *engine.Engine, tell teller) {
	r := e.Readiness(ctx)
	tell(g.ready, truth(r.Ready()))
	once := func(d *prometheus.Desc, notices []imagegen.Notice) {
		seen := make(map[string]bool)
		for _, n := range notices {
			if !seen[n.Code] {
				tell(d, 1, n.Code)
			}
			seen[n.Code] = true
		}
	}
	once(g.reason, r.Reasons)
	once(g.warning, r.Warnings)
}

// disk tells how much room there is.
func (g *gauges) disk(of func() (Disk, error), tell teller) {
	d, err := of()
	if err != nil {
		return
	}
	tell(g.free, float64(d.Free))
	tell(g.total, float64(d.Total))
	tell(g.reserve, float64(d.Reserve))
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
