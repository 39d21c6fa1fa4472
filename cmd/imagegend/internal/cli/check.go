package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/catalog"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
)

// probeTimeout bounds how long an upstream may take to answer.
const probeTimeout = 20 * time.Second

// check is what is known about a model and its upstream. provider check and doctor show it; scripts read its JSON. OK,
// Problem and Doubt are set once the upstream was asked.
type check struct {
	Model    string `json:"model"`
	Provider string `json:"provider"`
	OK       bool   `json:"ok"`
	Problem  string `json:"problem"` // why the model is not ready; "" if OK
	// What the upstream could not confirm; "": nothing. The model is OK all the same.
	Doubt string `json:"doubt"`
	// What the model offers, as callers see it: the provider's capabilities, narrowed by the models file.
	Ratios        []imagegen.Ratio                   `json:"ratios"`
	Credits       map[imagegen.Tier]imagegen.Credits `json:"credits"` // of an image, by tier
	Tiers         []imagegen.Tier                    `json:"tiers"`
	MaxReferences int                                `json:"max_references"`
	MaxImages     int                                `json:"max_images"`
	MaxPrompt     int                                `json:"max_prompt"`
	// Attempts under way at once, unless the upstream is overloaded.
	MaxConcurrent int  `json:"max_concurrent"`
	Retired       bool `json:"retired"`
	// Prices that are lower than the configured costs, in words; none where the value of a credit is not known.
	Losses []string `json:"losses"`

	probe   func(context.Context) error // nil: there is no upstream to ask
	unasked bool                        // the upstream was left out, as config validate does
}

// newChecks has an engine say what the models offer, retired ones included, in the order of models. So the checks
// show what callers will see, and not what the file says. credit is what a credit is worth; 0: that is not known. An
// error is what serve would refuse. The engine is over storage in memory and is not started, so nothing is sent.
func newChecks(ctx context.Context, models []engine.Model, s config.Settings) ([]*check, error) {
	db := memory.New(nil)
	// Models leaves retired models out, so all are offered here. Models and Health then have the order of models.
	listed := slices.Clone(models)
	for i := range listed {
		listed[i].Retired = false
	}
	policy := catalog.Policies[s.Policy]
	service, err := engine.New(engine.Config{Store: db, Ledger: db, Models: listed, Policy: policy,
		EndUserKey: []byte("nothing is sent")})
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
		c := &check{Model: info.ID, Provider: info.Provider, Ratios: info.Ratios, Credits: info.Credits,
			MaxReferences: info.MaxReferences, MaxImages: info.MaxImages, MaxPrompt: info.MaxPrompt, Tiers: info.Tiers,
			Retired: models[i].Retired, MaxConcurrent: health[i].Load.Most, Losses: []string{}}
		if s.CreditValue > 0 {
			c.Losses = append(c.Losses, models[i].Losses(policy, s.CreditValue)...)
		}
		if p, ok := models[i].Provider.(provider.Prober); ok {
			c.probe = p.Probe
		}
		checks = append(checks, c)
	}
	return checks, nil
}

// probeAll asks all upstreams at the same time and fills the checks in. It returns an error only if ctx ends first;
// what an upstream says is in its check.
func probeAll(ctx context.Context, checks []*check) error {
	var probes sync.WaitGroup
	for _, c := range checks {
		probes.Go(func() { c.askUpstream(ctx) })
	}
	probes.Wait()
	return ctx.Err()
}

// askUpstream asks one upstream, for probeTimeout at most. A model without an upstream to ask is ok.
func (c *check) askUpstream(ctx context.Context) {
	if c.probe != nil {
		ctx, cancel := context.WithTimeoutCause(ctx, probeTimeout, fmt.Errorf("the upstream did not answer within %v",
			probeTimeout))
		defer cancel()
		switch err := c.probe(ctx); {
		// The upstream answers and takes the key, but has no way to say whether it has the model.
		case errors.Is(err, provider.ErrUnconfirmed):
			c.Doubt = problem(err)
		case err != nil:
			c.Problem = problem(err)
		}
	}
	c.OK = c.Problem == ""
}

// problem returns an error in words, without its class, which only the engine needs.
func problem(err error) string {
	words := forPeople(err.Error())
	for _, class := range []imagegen.Class{imagegen.ClassUnknown, imagegen.ClassInvalid, imagegen.ClassRefused,
		imagegen.ClassRateLimited, imagegen.ClassUnavailable, imagegen.ClassBlocked} {
		words = strings.ReplaceAll(words, "provider: "+class.String()+": ", "")
	}
	return words
}
