package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
)

func (a *app) config() *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "show the effective configuration and where each value comes from",
		Long: "Shows every setting as it counts: a flag before its environment variable, that before the configuration\n" +
			"file, that before the default. Secrets are redacted.",
		Example: "  imagegend config --config /etc/imagegend/imagegend.yaml",
		Args:    exactly(),
	}
	a.settings.AllFlags(c.Flags())
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

// version describes the program.
type version struct {
	Version  string `json:"version"`
	Revision string `json:"revision"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func thisVersion() version {
	v := version{Version: "devel", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "(devel)" {
		v.Version = cmp.Or(info.Main.Version, v.Version)
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v.Revision = s.Value
		}
	}
	return v
}

func (a *app) version() *cobra.Command {
	c := &cobra.Command{Use: "version", Short: "show the version", Example: "  imagegend version --json", Args: exactly()}
	asJSON := jsonFlag(c, "one JSON object")
	c.RunE = a.action(func(*cobra.Command, []string) error {
		v := thisVersion()
		if *asJSON {
			return printJSON(a.stdout, v)
		}
		_, err := fmt.Fprintf(a.stdout, "imagegend %s %s %s\n", v.Version, v.Go, v.Platform)
		return err
	})
	return c
}
