package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/catalog"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/lists"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// providerCommand groups what can be done with upstreams without a server. So far that is one command.
func (a *app) providerCommand() *cobra.Command {
	return parent(&cobra.Command{Use: "provider", Short: "check the upstreams behind the models"},
		a.providerCheckCommand())
}

// providerCheckCommand reads the models as serve would, and sends what a Prober sends: no upstream is asked for an
// image.
func (a *app) providerCheckCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "check [MODEL]",
		Short: "ask every upstream whether it answers and takes the key, and show what the models can do",
		Long: "Reads the models and asks the upstream of each, or of one, whether it answers, takes the key and has the\n" +
			"model. Nothing is generated or charged. Exit status 1 says that a model is not ready.",
		Example: "  imagegend provider check\n" +
			"  imagegend provider check --models models.yaml gpt-image-2",
		Args: func(cmd *cobra.Command, args []string) error {
			// No argument means all models; the error for two is that of exactly.
			if len(args) == 0 {
				return nil
			}
			return exactly("MODEL")(cmd, args)
		},
	}
	a.settings.ModelsFlags(c.Flags())
	a.settings.MoneyFlags(c.Flags())
	asJSON := jsonFlag(c, "one JSON array")
	c.RunE = a.action(func(cmd *cobra.Command, args []string) error {
		models, err := a.models()
		if err != nil {
			return err
		}
		checks, err := newChecks(cmd.Context(), models, a.settings)
		if err != nil {
			return err
		}
		if len(args) > 0 {
			i := slices.IndexFunc(checks, func(c *check) bool { return c.Model == args[0] })
			if i < 0 {
				ids := lists.Each(checks, func(c *check) string { return c.Model })
				return fmt.Errorf("there is no model %q; there are: %s", args[0], strings.Join(ids, ", "))
			}
			checks = checks[i : i+1]
		}
		if err := probeAll(cmd.Context(), checks); err != nil {
			return err
		}
		// The table is shown also if a model is not ready; the verdict only sets the exit status.
		if err := a.showChecks(checks, *asJSON); err != nil {
			return err
		}
		return verdict(checks)
	})
	return c
}

// modelsFile returns where serve takes its models from: a file, or catalog.Fake with --dev. If there is none, the
// error shows the choices. Without --dev test pictures are never the fallback, since they would be charged for. The
// file that is named need not exist; catalog.Load finds out.
func (a *app) modelsFile() (string, error) {
	file, err := a.sources.ModelsFile(a.settings.Models)
	// The first case has nothing to add: a file was named or found, or cannot be used.
	switch {
	case file != "" || err != nil:
	case a.settings.Dev:
		file = catalog.Fake
	default:
		err = errors.New("there are no models: no models.yaml was found, and none was named. " +
			"To try the service, imagegend serve --dev; to run it on your models, --models FILE; to run it on test pictures, which are charged for, --models fake")
	}
	return file, err
}

// models returns the models of serve, retired ones included. Each call makes new providers.
func (a *app) models() ([]engine.Model, error) {
	file, err := a.modelsFile()
	if err != nil {
		return nil, err
	}
	// Without AllowCrash: no prompt is sent from here.
	return catalog.Load(file, catalog.Options{Policy: a.settings.Policy})
}

// showChecks prints a block of lines for each check, or one JSON array.
func (a *app) showChecks(checks []*check, asJSON bool) error {
	if asJSON {
		return printJSON(a.stdout, checks)
	}
	for i, c := range checks {
		if i > 0 {
			fmt.Fprintln(a.stdout)
		}
		c.show(a.stdout)
	}
	return nil
}

// show prints a check for people. Everything but the state of the upstream comes from the models file and the
// provider's own description, so it is shown also if the upstream did not answer.
func (c *check) show(w io.Writer) {
	line := func(name, text string) {
		fmt.Fprintf(w, "  %-11s %s\n", name, text)
	}
	// Callers do not see a retired model. Work that was accepted for it still needs its upstream.
	hidden := ""
	if c.Retired {
		hidden = ", retired"
	}
	fmt.Fprintf(w, "%s by %s%s\n", c.Model, c.Provider, hidden)
	line("upstream", c.state())
	var prices []string
	// A tier without a price is not on offer, and not among them.
	for _, t := range c.Tiers {
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
	line("at once", fmt.Sprintf("up to %s", plural(c.MaxConcurrent, "attempt")))
	for _, loss := range c.Losses {
		line("WARNING", loss)
	}
}

// state returns in words what is known of the upstream.
func (c *check) state() string {
	switch {
	case !c.OK:
		return "NOT READY: " + c.Problem
	case c.Doubt != "":
		return "answers; model not confirmable: " + c.Doubt
	case c.unasked && c.Retired:
		return "retired; its upstream was not asked"
	case c.unasked:
		return "on offer; its upstream was not asked"
	case c.probe == nil:
		return "none is needed"
	}
	return "ready: it answers and accepts what is configured"
}

// verdict returns an error if a model is not ready, for the exit status. A model that could not be confirmed counts as
// ready.
func verdict(checks []*check) error {
	bad := 0
	for _, c := range checks {
		if !c.OK {
			bad++
		}
	}
	if bad > 0 {
		return fmt.Errorf("not ready: %d of %s", bad, plural(len(checks), "model"))
	}
	return nil
}
