package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/doctor"
)

func (a *app) config() *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "show the effective configuration of serve and where each value comes from",
		Long: "Shows every setting of serve as it counts: a flag before its environment variable, that before the\n" +
			"configuration file, that before the default.",
		Example: "  imagegend config --config /etc/imagegend/imagegend.yaml",
		Args:    exactly(),
	}
	a.settings.ServeFlags(c.Flags())
	asJSON := jsonFlag(c, "one JSON array")
	c.RunE = a.action(func(cmd *cobra.Command, _ []string) error {
		// Without --models the file is found by where the configuration file is, so it is resolved to show what
		// counts.
		models, err := a.sources.ModelsFile(a.settings.Models)
		if err != nil {
			return err
		}
		a.settings.Models = models // the one that serve would find
		return list(a, *asJSON, a.sources.Effective(cmd.Flags()), []string{"KEY", "VALUE", "ORIGIN"}, func(e config.Effective) []any {
			origin := e.Origin
			if e.Name != "" {
				origin += " " + e.Name
			}
			return []any{e.Key, orDash(e.Value), origin}
		})
	})
	c.AddCommand(a.configValidate())
	return c
}

func (a *app) configValidate() *cobra.Command {
	c := &cobra.Command{
		Use:   "validate",
		Short: "check configuration and models as serve would, and start nothing",
		Long: "Checks the configuration and the models as serve does before it starts. It touches no data, opens no\n" +
			"connection and asks no upstream, so that it can run before a change is put in place: doctor looks at the rest.\n" +
			"Each line is ok, warn or fail; exit status 1 says that one is fail.",
		Example: "  imagegend config validate --config /etc/imagegend/imagegend.yaml && systemctl reload imagegend",
		Args:    exactly(),
	}
	a.settings.ServeFlags(c.Flags())
	asJSON := jsonFlag(c, "one JSON array")
	c.RunE = a.examination(c, asJSON, a.validate)
	return c
}

// validate checks what can be known without touching the data and without the network: the models are made, and their
// upstreams left out.
func (a *app) validate(ctx context.Context) []doctor.Finding {
	// In place of probeAll: nothing is sent, and what could not be asked is not held against a model.
	findings := a.examineModels(ctx, func(_ context.Context, checks []*check) error {
		for _, c := range checks {
			c.OK, c.unasked = true, true
		}
		return nil
	})
	findings = append(findings, doctor.Password(a.settings.Server)...)
	findings = append(findings, doctor.Brand(a.settings.Server)...)
	findings = append(findings, doctor.SignIn(a.settings.Server)...)
	return append(findings, doctor.Network(a.settings.Server)...)
}
