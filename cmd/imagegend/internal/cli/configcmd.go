package cli

import (
	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
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
	return c
}
