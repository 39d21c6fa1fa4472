package cli

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/doctor"
)

// configCommand shows what serve would run with, whether or not a server runs. A running server read its settings when
// it started, and they may have changed since.
func (a *app) configCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "show the effective configuration of serve and where each value comes from",
		Long: "Shows the value of every setting of serve, and where it comes from. A flag counts before its environment\n" +
			"variable, the variable before the configuration file, and the file before the default.",
		Example: "  imagegend config --config /etc/imagegend/imagegend.yaml",
	}
	a.settings.ServeFlags(c.Flags())
	asJSON := jsonFlag(c, "one JSON array")
	c.RunE = a.action(func(cmd *cobra.Command, _ []string) error {
		// Without --models serve looks for the file beside the configuration file. Its name is shown, not an empty
		// value.
		models, err := a.sources.ModelsFile(a.settings.Models)
		if err != nil {
			return err
		}
		a.settings.Models = models
		return printList(a, *asJSON, a.sources.Effective(cmd.Flags()), []string{"KEY", "VALUE", "ORIGIN"},
			func(e config.Effective) []any {
				// The name is that of a flag, a variable or a file. A default has none.
				origin := e.Origin
				if e.Name != "" {
					origin += " " + e.Name
				}
				return []any{e.Key, orDash(e.Value), origin}
			})
	})
	c.AddCommand(a.configValidateCommand())
	return c
}

// configValidateCommand makes those of doctor's checks that need neither the data nor the network.
func (a *app) configValidateCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "validate",
		Short: "check configuration and models as serve would, and start nothing",
		Long: "Checks the configuration and the models as serve does before it starts. It touches no data, opens no\n" +
			"connection and asks no upstream, so that it can run before a change is put in place: doctor looks at the rest.\n" +
			"Each line is ok, warn or fail; exit status 1 says that one is fail.",
		Example: "  imagegend config validate --config /etc/imagegend/imagegend.yaml && systemctl reload imagegend",
	}
	a.examination(c, a.validateConfig)
	return c
}

// validateConfig checks what can be known without touching the data and without the network. The providers are made,
// which reads their secrets from the environment and from files, but no upstream is asked.
func (a *app) validateConfig(ctx context.Context) []doctor.Finding {
	// In place of probeAll: nothing is sent, and what could not be asked is not held against a model.
	models := a.examineModels(ctx, func(_ context.Context, checks []*check) error {
		for _, c := range checks {
			c.OK, c.unasked = true, true
		}
		return nil
	})
	s := a.settings.Server
	return slices.Concat(models, doctor.Certificate(s, time.Now()), doctor.Password(s), doctor.Brand(s),
		doctor.SignIn(s), doctor.Network(s))
}
