package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
)

// probeTimeout is how long an upstream has to answer.
const probeTimeout = 20 * time.Second

// check is what is known of a model and its upstream.
type check struct {
	Model         string                             `json:"model"`
	Provider      string                             `json:"provider"`
	OK            bool                               `json:"ok"`
	Problem       string                             `json:"problem"` // "" if it is ok
	Doubt         string                             `json:"doubt"`   // what the upstream does not tell; "" if nothing
	Ratios        []imagegen.Ratio                   `json:"ratios"`
	Credits       map[imagegen.Tier]imagegen.Credits `json:"credits"` // of an image, by tier
	Tiers         []imagegen.Tier                    `json:"tiers"`
	MaxReferences int                                `json:"max_references"`
	MaxImages     int                                `json:"max_images"`
	MaxPrompt     int                                `json:"max_prompt"`
	MaxConcurrent int                                `json:"max_concurrent"` // attempts under way at once, while the upstream takes them
	Retired       bool                               `json:"retired"`

	probe   func(context.Context) error // nil: there is no upstream to ask
	unasked bool                        // nobody wanted to know what the upstream says
}

// newChecks has an engine say what the models offer, the retired ones too: what it refuses, serve would refuse.
func newChecks(ctx context.Context, models []engine.Model) ([]*check, error) {
	db := memory.New(nil)
	listed := slices.Clone(models)
	for i := range listed {
		listed[i].Retired = false
	}
	service, err := engine.New(engine.Config{Store: db, Ledger: db, Models: listed})
	if err != nil {
		return nil, err
	}
	infos, err := service.Models(ctx)
	if err != nil {
		return nil, err
	}
	var checks []*check
	health := service.Health()
	for i, info := range infos {
		c := &check{Model: info.ID, Provider: info.Provider, Ratios: info.Ratios, Credits: info.Credits, MaxReferences: info.MaxReferences,
			MaxImages: info.MaxImages, MaxPrompt: info.MaxPrompt, Tiers: info.Tiers, Retired: models[i].Retired,
			MaxConcurrent: health[i].Load.Most}
		if p, ok := models[i].Provider.(provider.Prober); ok {
			c.probe = p.Probe
		}
		checks = append(checks, c)
	}
	return checks, nil
}

// probeAll asks all upstreams at once. It returns an error if ctx ends before they have answered.
func probeAll(ctx context.Context, checks []*check) error {
	var probes sync.WaitGroup
	for _, c := range checks {
		probes.Go(func() { c.run(ctx) })
	}
	probes.Wait()
	return ctx.Err()
}

func (c *check) run(ctx context.Context) {
	if c.probe != nil {
		ctx, cancel := context.WithTimeoutCause(ctx, probeTimeout, fmt.Errorf("the upstream did not answer within %v", probeTimeout))
		defer cancel()
		switch err := c.probe(ctx); {
		case errors.Is(err, provider.ErrUnconfirmed):
			c.Doubt = problem(err)
		case err != nil:
			c.Problem = problem(err)
		}
	}
	c.OK = c.Problem == ""
}

// problem leaves out of an error its class, which is the engine's matter.
func problem(err error) string {
	words := forPeople(err.Error())
	for _, class := range []imagegen.Class{imagegen.ClassUnknown, imagegen.ClassInvalid, imagegen.ClassRefused, imagegen.ClassRateLimited, imagegen.ClassUnavailable,
		imagegen.ClassUnusable} {
		words = strings.ReplaceAll(words, "provider: "+class.String()+": ", "")
	}
	return words
}
