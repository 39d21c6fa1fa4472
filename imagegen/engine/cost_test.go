package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// reporting is a provider that reports a usage, yields n images and then err.
func reporting(u imagegen.UpstreamUsage, n int, err error) *scripted {
	p := yieldImages(n, err)
	yield := p.do
	p.do = func(ctx context.Context, r imagegen.ProviderRequest, to func(imagegen.ProviderImage, error) bool) {
		r.Used(u)
		yield(ctx, r, to)
	}
	return p
}

func failure(c imagegen.Class) error {
	return &imagegen.ProviderError{Class: c, Err: errors.New("upstream")}
}

// Each kind of end has the cost that the contract says, in the record and in the totals.
func TestCostOfAnAttempt(t *testing.T) {
	byImage := engine.Cost{Image: map[imagegen.Tier]imagegen.Micros{"1K": 40_000},
		Images: []engine.ImageCost{{Quality: "high", Image: map[imagegen.Tier]imagegen.Micros{"4K": 90_000}}}}
	tokens := imagegen.UpstreamUsage{TextInput: 11, ImageInput: 323, ImageOutput: 4160}
	perMillion := engine.Cost{PerMillion: engine.TokenCosts{TextInput: 5_000_000, ImageInput: 8_000_000,
		ImageOutput: 30_000_000}, Image: byImage.Image}
	for name, c := range map[string]struct {
		provider *scripted
		cost     engine.Cost
		n        int
		want     imagegen.AttemptCost
	}{
		"tokens": {reporting(tokens, 2, nil), perMillion, 2, // 55 + 2584 + 124800 millionths
			imagegen.AttemptCost{Images: 2, Usage: tokens, Cost: 127_439, Reason: imagegen.CostReported}},
		"units": {reporting(imagegen.UpstreamUsage{Units: 4_500_000}, 1, nil), engine.Cost{Unit: 10_000}, 1,
			imagegen.AttemptCost{Images: 1, Usage: imagegen.UpstreamUsage{Units: 4_500_000}, Cost: 45_000,
				Reason: imagegen.CostReported}},
		"seconds": {reporting(imagegen.UpstreamUsage{Time: 2500 * time.Millisecond}, 1, nil), engine.Cost{Second: 401},
			1,
			imagegen.AttemptCost{Images: 1, Usage: imagegen.UpstreamUsage{Time: 2500 * time.Millisecond}, Cost: 1003,
				Reason: imagegen.CostReported}}, // 1002.5
		"failed, reported": {reporting(tokens, 0, failure(imagegen.ClassRefused)), perMillion, 1,
			imagegen.AttemptCost{Usage: tokens, Cost: 127_439, Reason: imagegen.CostReported}},
		"reported in part": {reporting(tokens, 1, failure(imagegen.ClassUnknown)), perMillion, 2,
			imagegen.AttemptCost{Images: 1, Usage: tokens, Reason: imagegen.CostNoFigure}},
		"tokens without a price": {reporting(tokens, 1, nil),
			engine.Cost{PerMillion: engine.TokenCosts{TextInput: 5_000_000}}, 1,
			imagegen.AttemptCost{Images: 1, Usage: tokens, Reason: imagegen.CostNoFigure}},
		"absurd": {reporting(imagegen.UpstreamUsage{Units: 1 << 62}, 1, nil), engine.Cost{Unit: 1_000_000}, 1,
			imagegen.AttemptCost{Images: 1, Usage: imagegen.UpstreamUsage{Units: 1 << 62},
				Reason: imagegen.CostNoFigure}},
		"negative": {reporting(imagegen.UpstreamUsage{TextInput: -1, ImageOutput: 9}, 1, nil), perMillion, 1,
			imagegen.AttemptCost{Images: 1, Cost: 40_000, Reason: imagegen.CostByImage}},
		"refused, reported": {reporting(tokens, 0, failure(imagegen.ClassRefused)), byImage, 1,
			imagegen.AttemptCost{Usage: tokens, Reason: imagegen.CostNoFigure}},
		"no price for tokens": {reporting(tokens, 1, nil), byImage, 1,
			imagegen.AttemptCost{Images: 1, Usage: tokens, Cost: 40_000, Reason: imagegen.CostByImage}},
		"images": {yieldImages(2, nil), byImage, 2, imagegen.AttemptCost{Images: 2, Cost: 80_000,
			Reason: imagegen.CostByImage}},
		"fewer": {yieldImages(1, nil), byImage, 3, imagegen.AttemptCost{Images: 1, Cost: 40_000,
			Reason: imagegen.CostByImage}},
		"surplus": {reporting(imagegen.UpstreamUsage{Surplus: 3}, 1, nil), byImage, 1, imagegen.AttemptCost{Images: 4,
			Usage: imagegen.UpstreamUsage{Surplus: 3}, Cost: 160_000, Reason: imagegen.CostByImage}},
		"surplus of a part": {reporting(imagegen.UpstreamUsage{Surplus: 1}, 1, failure(imagegen.ClassUnknown)),
			byImage, 2, imagegen.AttemptCost{Images: 2, Usage: imagegen.UpstreamUsage{Surplus: 1},
				Reason: imagegen.CostNoFigure}},
		"none": {yieldImages(0, nil), byImage, 1, imagegen.AttemptCost{Reason: imagegen.CostByImage}},
		"cut off": {yieldImages(1, failure(imagegen.ClassUnknown)), byImage, 2,
			imagegen.AttemptCost{Images: 1, Reason: imagegen.CostNoFigure}},
		"refused": {yieldImages(0, failure(imagegen.ClassRefused)), byImage, 1,
			imagegen.AttemptCost{Reason: imagegen.CostNoFigure}},
		"invalid": {yieldImages(0, failure(imagegen.ClassInvalid)), byImage, 1,
			imagegen.AttemptCost{Reason: imagegen.CostNothingMade}},
		"away": {yieldImages(0, failure(imagegen.ClassUnavailable)), byImage, 1,
			imagegen.AttemptCost{Reason: imagegen.CostNothingMade}},
		"failed": {yieldImages(0, failure(imagegen.ClassUnknown)), byImage, 1,
			imagegen.AttemptCost{Reason: imagegen.CostNoFigure}},
		"no cost": {yieldImages(1, nil), engine.Cost{}, 1, imagegen.AttemptCost{Images: 1,
			Reason: imagegen.CostNoFigure}},
		"panic": {&scripted{caps: anything, do: func(context.Context, imagegen.ProviderRequest,
			func(imagegen.ProviderImage, error) bool) {
			panic("a bug")
		}}, byImage, 1, imagegen.AttemptCost{Reason: imagegen.CostNoFigure}},
	} {
		t.Run(name, func(t *testing.T) {
			eachLedger(t, func(t *testing.T, option func(*engine.Config)) {
				h := start(t, c.provider, option, func(cfg *engine.Config) { cfg.Models[0].Cost = c.cost })
				result, err := h.generate(imagegen.GenerateRequest{N: c.n})
				id := result.ID
				if e, failed := errors.AsType[*imagegen.Error](err); failed {
					id = e.Generation
				}
				r, err := h.engine.Record(t.Context(), id)
				h.is.NoErr(err)
				c.want.Attempt, c.want.Provider = 1, "scripted"
				h.is.Equal(cmp.Diff([]imagegen.AttemptCost{c.want}, r.Costs), "")
				unknown := 0
				if !c.want.Known() {
					unknown = 1
				}
				h.hasTotals(imagegen.Totals{Generations: 1, Images: r.Published, Spent: r.Used(), Attempts: 1,
					Unknown: unknown,
					Cost:    c.want.Cost})
				h.audit()
			})
		})
	}
}

func (h *harness) hasTotals(want imagegen.Totals) {
	h.Helper()
	rows, err := h.engine.Totals(h.Context(), imagegen.UsageQuery{})
	h.is.NoErr(err)
	var got imagegen.Totals
	for _, r := range rows {
		got = got.Plus(r.Totals)
	}
	h.is.Equal(cmp.Diff(want, got), "")
}

// Each attempt at asynchronous work has its cost, those that failed too; an erasure keeps them.
func TestCostOfEachAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := yieldImages(1, nil)
		made, tries := p.do, 0
		p.do = func(ctx context.Context, r imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
			if tries++; tries < 3 {
				r.Used(imagegen.UpstreamUsage{Units: 1_000_000})
				yield(imagegen.ProviderImage{}, transient(tries))
				return
			}
			made(ctx, r, yield)
		}
		h := start(t, p, func(c *engine.Config) {
			c.Models[0].Cost = engine.Cost{Unit: 7, Image: map[imagegen.Tier]imagegen.Micros{"1K": 100}}
		})
		g, err := h.generate(imagegen.GenerateRequest{Async: true})
		h.is.NoErr(err)
		h.is.Equal(h.ended(g.ID).Status, imagegen.StatusSucceeded)
		want := imagegen.Totals{Generations: 1, Images: 1, Spent: 1, Attempts: 3, Cost: 114}
		h.hasTotals(want)
		h.is.NoErr(h.engine.Erase(t.Context(), g.ID))
		h.hasTotals(want)
		h.audit()
	})
}

// The cost of an attempt whose process was killed is unknown, and counted once, however often its recovery is
// interrupted; that of a job that is resumed is the resuming attempt's.
func TestCostOfAKilledAttempt(t *testing.T) {
	is := is.New(t)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r := imagegen.Record{Intent: imagegen.Intent{ID: "gen_1", User: "alice", N: 1, Price: 1, Async: true,
		Prompt:    "a fox",
		CreatedAt: at}, Progress: imagegen.Progress{State: imagegen.StateQueued}}
	apply := func(c imagegen.Change) {
		t.Helper()
		next, _, err := r.Apply(r.Attempt, c)
		is.NoErr(err)
		r = next
	}
	reasons := func() (all []imagegen.CostReason) {
		for _, c := range r.Costs {
			all = append(all, c.Reason)
		}
		return all
	}
	apply(imagegen.ClaimChange{})
	apply(imagegen.RecoverChange{})
	apply(imagegen.RecoverChange{}) // the recovery was killed too
	apply(imagegen.RecoverChange{})
	is.Equal(reasons(), []imagegen.CostReason{"interrupted"})
	apply(imagegen.ReleaseChange{Failed: true})
	apply(imagegen.ClaimChange{})
	apply(imagegen.SaveJobChange{Job: []byte("job"), Upstreams: []string{"u"}})
	apply(imagegen.RecoverChange{})
	apply(imagegen.ReleaseChange{Resumed: true})
	is.Equal(reasons(), []imagegen.CostReason{"interrupted"}) // the job is resumed
	apply(imagegen.ClaimChange{})
	done := &imagegen.AttemptCost{Cost: 5, Reason: imagegen.CostReported}
	apply(imagegen.OutcomeChange{Failure: &imagegen.Failure{}, At: at, Cost: done})
	is.Equal(reasons(), []imagegen.CostReason{"interrupted", imagegen.CostReported})
	is.Equal(r.Costs[1].Attempt, r.Attempt)
	is.Equal(r.Totals().Unknown, 1)

	r.State, r.Job, r.Costs, r.Failure, r.CompletedAt = imagegen.StateProcessing, []byte("job"), nil, nil, time.Time{}
	apply(imagegen.OutcomeChange{Failure: &imagegen.Failure{}, At: at}) // nobody resumes the job
	is.Equal(reasons(), []imagegen.CostReason{"interrupted"})
}
