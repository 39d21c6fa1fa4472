package metrics

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/imagegend/imagegend/imagegen"
)

// work counts what is done for callers and what it costs, from the events of the engine and the storage.
type work struct {
	accepted, ended, images, charged, refunded *prometheus.CounterVec
	lost                                       *prometheus.CounterVec
	replayed                                   prometheus.Counter
	lasted                                     *prometheus.HistogramVec
	attempts, cost, costUnknown                *prometheus.CounterVec
	attempted, waited, commits                 *prometheus.HistogramVec
	operations, commitFailures, auditFailures  prometheus.Counter
}

func newWork(declare *declared) work {
	return work{
		accepted: declare.counter("generations_accepted_total",
			"Generations that were charged, and are queued or under way.", "model"),
		ended: declare.counter("generations_ended_total",
			"Generations that have ended: ok, cancelled by their owner, or with the class of their failure. refused and invalid are through what was asked for.", "model", "class"),
		lasted: declare.histogram("generation_duration_seconds",
			"From acceptance to the end of generations that succeeded.", workBuckets, "model"),
		images:   declare.counter("images_total", "Images that were delivered.", "model"),
		charged:  declare.counter("credits_charged_total", "Credits that were charged at acceptance.", "model"),
		refunded: declare.counter("credits_refunded_total", "Credits of those that were given back.", "model"),
		lost: declare.counter("images_lost_total",
			"Images that were made and could not be stored in time (storage), or may have been made when a process was killed (unknown): nobody gets them, and their credits were returned or they are made again.", "model", "class"),
		replayed: declare.single("replays_total",
			"Calls that were answered with what another one got, and not charged."),
		attempts: declare.counter("provider_attempts_total",
			"Attempts by model, provider, member of a router and class of the end; refused, invalid and stopped are not faults of the upstream.", "model", "provider", "member", "class"),
		cost: declare.counter("upstream_cost_total",
			"What ended attempts cost upstream, in the operator's currency.", "model", "provider"),
		costUnknown: declare.counter("upstream_cost_unknown_total",
			"Ended attempts of which it is not known what they cost upstream.", "model", "provider"),
		attempted: declare.histogram("provider_attempt_duration_seconds", "How long attempts took.", workBuckets,
			"model", "provider", "member", "class"),
		waited: declare.histogram("slot_wait_seconds", "How long generations waited for a slot.", callBuckets,
			"model"),
		commits: declare.histogram("commit_duration_seconds",
			"How long commits of the database took to be durable.", commitBuckets),
		operations:     declare.single("commit_operations_total", "Operations in those commits."),
		commitFailures: declare.single("commit_failures_total", "Commits that failed."),
		auditFailures:  declare.single("audit_failures_total", "Audits that could not be made."),
	}
}

var _ imagegen.Observer = (*Metrics)(nil)

// Begin implements [imagegen.Observer]. Metrics need no context.
func (m *Metrics) Begin(ctx context.Context, _ imagegen.Event) context.Context { return ctx }

// Observe implements [imagegen.Observer]. It is called where the work is done, so it must not block.
func (m *Metrics) Observe(_ context.Context, e imagegen.Event) {
	w, model := m.work, e.Generation.Model
	switch e.Kind {
	case imagegen.EventAccepted:
		w.accepted.WithLabelValues(model).Inc()
		w.charged.WithLabelValues(model).Add(float64(e.Credits))
		// Makes the series, so that a query can subtract it while it is 0.
		w.refunded.WithLabelValues(model)
	case imagegen.EventSettled:
		w.ended.WithLabelValues(model, string(imagegen.EndedOK)).Inc()
		w.lasted.WithLabelValues(model).Observe(e.Duration.Seconds())
		w.images.WithLabelValues(model).Add(float64(len(e.Generation.Images)))
		w.refunded.WithLabelValues(model).Add(float64(e.Credits))
	case imagegen.EventFailed, imagegen.EventCancelled:
		ending := imagegen.EndedUnknown
		if e.Failure != nil {
			ending = e.Failure.Class.Ending()
		}
		w.ended.WithLabelValues(model, string(ending)).Inc()
		w.refunded.WithLabelValues(model).Add(float64(e.Credits))
	// A dispute ends long after its generation, and can give credits back.
	case imagegen.EventResolved:
		w.refunded.WithLabelValues(model).Add(float64(e.Credits))
	case imagegen.EventLost:
		w.lost.WithLabelValues(model, string(imagegen.EndingOf(0, e.Err))).Add(float64(e.Count))
	case imagegen.EventReplayed:
		w.replayed.Inc()
	case imagegen.EventWaited:
		w.waited.WithLabelValues(model).Observe(e.Duration.Seconds())
	case imagegen.EventAttempted:
		if e.Members == 0 { // otherwise its members were counted, one by one
			w.attempt(e)
		}
		w.addCost(e)
	case imagegen.EventAsked:
		w.attempt(e)
	case imagegen.EventCommitted:
		w.commit(e)
	case imagegen.EventAudited:
		if e.Err != nil {
			w.auditFailures.Inc()
		}
	}
}

// attempt counts an attempt under the class of its end, which is "ok" for images.
func (w work) attempt(e imagegen.Event) {
	class := string(imagegen.EndingOf(e.Count, e.Err))
	w.attempts.WithLabelValues(e.Generation.Model, e.Provider, e.Member, class).Inc()
	w.attempted.WithLabelValues(e.Generation.Model, e.Provider, e.Member, class).Observe(e.Duration.Seconds())
}

// addCost counts what an attempt cost upstream.
func (w work) addCost(e imagegen.Event) {
	cost, unknown := w.cost.WithLabelValues(e.Generation.Model, e.Provider),
		w.costUnknown.WithLabelValues(e.Generation.Model,
			e.Provider)
	switch {
	case e.Cost == nil:
	case e.Cost.Known():
		cost.Add(float64(e.Cost.Cost) / 1e6)
	default:
		unknown.Inc()
	}
}

// commit counts a commit of the database, which can hold the operations of many callers.
func (w work) commit(e imagegen.Event) {
	w.commits.WithLabelValues().Observe(e.Duration.Seconds())
	w.operations.Add(float64(e.Count))
	if e.Err != nil {
		w.commitFailures.Inc()
	}
}
