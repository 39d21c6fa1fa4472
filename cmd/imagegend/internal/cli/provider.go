package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/catalog"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
	"github.com/imagegend/imagegend/internal/nearest"
)

// probeTimeout is how long an upstream has to answer.
const probeTimeout = 20 * time.Second

func (a *app) provider() *cobra.Command {
	c := &cobra.Command{Use: "provider", Short: "check the upstreams behind the models"}
	c.AddCommand(a.providerCheck())
	return parent(c)
}

func (a *app) providerCheck() *cobra.Command {
	c := &cobra.Command{
		Use:   "check [MODEL]",
		Short: "ask every upstream whether it answers and takes the key, and show what the models can do",
		Long: "Reads the models and asks the upstream of each, or of one, whether it answers, takes the key and has the\n" +
			"model. Nothing is generated and nothing costs. Exit status 1 says that a model would not work.",
		Example: "  imagegend provider check\n" +
			"  imagegend provider check --models models.yaml gpt-image-2",
		Args: cobra.MaximumNArgs(1),
	}
	a.settings.ModelsFlag(c.Flags())
	asJSON := jsonFlag(c, "one JSON array")
	c.RunE = a.action(func(cmd *cobra.Command, args []string) error {
		models, err := a.models()
		if err != nil {
			return err
		}
		checks, err := newChecks(cmd.Context(), models)
		if err != nil {
			return err
		}
		if len(args) > 0 {
			if checks, err = only(checks, args[0]); err != nil {
				return err
			}
		}
		probeAll(cmd.Context(), checks)
		if err := a.showChecks(checks, *asJSON); err != nil {
			return err
		}
		return verdict(checks)
	})
	return c
}

// models are those that serve would offer.
func (a *app) models() ([]imagegen.Model, error) {
	file, err := a.sources.ModelsFile(a.settings.Models)
	if err != nil {
		return nil, err
	}
	o := catalog.Options{Getenv: a.getenv}
	if file == "" {
		return catalog.Default(o), nil
	}
	return catalog.Load(file, o)
}

// check is what is known of a model and its upstream.
type check struct {
	Model         string                             `json:"model"`
	Provider      string                             `json:"provider"`
	OK            bool                               `json:"ok"`
	Problem       string                             `json:"problem"` // "" if it is ok
	Ratios        []imagegen.Ratio                   `json:"ratios"`
	Credits       map[imagegen.Tier]imagegen.Credits `json:"credits"` // by tier
	MaxReferences int                                `json:"max_references"`
	MaxImages     int                                `json:"max_images"`
	MaxPrompt     int                                `json:"max_prompt"`

	tiers []imagegen.Tier
	probe func(context.Context) error // nil: there is no upstream to ask
}

// newChecks has an engine say what the models offer: what it refuses, serve would refuse.
func newChecks(ctx context.Context, models []imagegen.Model) ([]*check, error) {
	db := memory.New(nil)
	engine, err := imagegen.New(imagegen.Config{Store: db, Ledger: db, Models: models})
	if err != nil {
		return nil, err
	}
	infos, err := engine.Models(ctx)
	if err != nil {
		return nil, err
	}
	var checks []*check
	for i, info := range infos {
		c := &check{Model: info.ID, Provider: info.Provider, Ratios: info.Ratios, Credits: info.Credits, MaxReferences: info.MaxReferences,
			MaxImages: info.MaxImages, MaxPrompt: info.MaxPrompt, tiers: info.Tiers}
		if p, ok := models[i].Provider.(interface{ Probe(context.Context) error }); ok {
			c.probe = p.Probe
		}
		checks = append(checks, c)
	}
	return checks, nil
}

func only(checks []*check, model string) ([]*check, error) {
	var ids []string
	for _, c := range checks {
		if c.Model == model {
			return []*check{c}, nil
		}
		ids = append(ids, c.Model)
	}
	return nil, fmt.Errorf("there is no model %q%s", model, nearest.Hint(model, ids))
}

// probeAll asks all upstreams at once.
func probeAll(ctx context.Context, checks []*check) {
	var probes sync.WaitGroup
	for _, c := range checks {
		probes.Go(func() { c.run(ctx) })
	}
	probes.Wait()
}

func (c *check) run(ctx context.Context) {
	if c.probe != nil {
		ctx, cancel := context.WithTimeoutCause(ctx, probeTimeout, fmt.Errorf("the upstream did not answer within %v", probeTimeout))
		defer cancel()
		if err := c.probe(ctx); err != nil {
			c.Problem = problem(err)
		}
	}
	c.OK = c.Problem == ""
}

// problem leaves out of an error how the engine would class it, which says nothing here.
func problem(err error) string {
	words := forPeople(err.Error())
	for _, class := range []imagegen.Class{imagegen.ClassUnknown, imagegen.ClassInvalid, imagegen.ClassRefused, imagegen.ClassRateLimited, imagegen.ClassUnavailable} {
		words = strings.ReplaceAll(words, "provider: "+class.String()+": ", "")
	}
	return words
}

func (a *app) showChecks(checks []*check, asJSON bool) error {
	if asJSON {
		return printJSON(a.stdout, checks)
	}
	for i, c := range checks {
		if i > 0 {
			fmt.Fprintln(a.stdout)
		}
		c.show(a)
	}
	return nil
}

func (c *check) show(a *app) {
	line := func(name, text string) {
		fmt.Fprintf(a.stdout, "  %-11s %s\n", name, wrap(text, helpWidth-14, 14))
	}
	fmt.Fprintf(a.stdout, "%s by %s\n", c.Model, c.Provider)
	line("upstream", c.state())
	var prices []string
	for _, t := range c.tiers {
		prices = append(prices, fmt.Sprintf("%s for %s", t, plural(c.Credits[t], "credit")))
	}
	line("tiers", strings.Join(prices, ", "))
	line("ratios", strings.Trim(fmt.Sprint(c.Ratios), "[]"))
	references := "none"
	if c.MaxReferences > 0 {
		references = fmt.Sprintf("up to %d", c.MaxReferences)
	}
	line("references", references)
	line("images", fmt.Sprintf("up to %d in a request", c.MaxImages))
}

func (c *check) state() string {
	switch {
	case !c.OK:
		return "NOT READY: " + c.Problem
	case c.probe == nil:
		return "none is needed"
	}
	return "answers, and takes the configuration"
}

func verdict(checks []*check) error {
	bad := slices.DeleteFunc(slices.Clone(checks), func(c *check) bool { return c.OK })
	if len(bad) == 0 {
		return nil
	}
	return fmt.Errorf("%d of %s would not work", len(bad), plural(len(checks), "model"))
}
