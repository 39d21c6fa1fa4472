package cli

import (
	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemon"
)

func (a *app) serve() *cobra.Command {
	c := &cobra.Command{
		Use:   "serve",
		Short: "run the service",
		Long: "Runs the service. The data directory is made if there is none. Every flag can also be given as the\n" +
			"environment variable that stands beside it, or as a key of imagegend.yaml.\n\n" +
			"SIGHUP reads the models anew; models that will not do are refused, and the old ones stay. SIGTERM drains: no\n" +
			"new work is taken, work under way ends. A second signal ends it at once. Exit status 74\n" +
			"says that the disk failed under a commit: look at the disk before you start it again.",
		Example: "  imagegend serve --dev\n" +
			"  imagegend serve --data-dir /var/lib/imagegend --models models.yaml --base-url https://images.example.com",
		Args: exactly(),
	}
	a.settings.ServeFlags(c.Flags())
	c.RunE = a.action(func(cmd *cobra.Command, _ []string) error {
		// What follows depends on several settings. Only --data-dir on the command line is refused with --dev: in a
		// file or a variable it is meant for other runs, and --dev leaves it alone.
		if a.settings.Dev && a.sources.Given("data-dir") {
			return usage(cmd, "--dev keeps no data, so --data-dir cannot be combined with it")
		}
		if a.settings.Dev && a.settings.Shared() {
			return usage(cmd, "--dev keeps no data, so --database cannot be combined with it")
		}
		if a.settings.ImageLinks == config.Redirect && !a.settings.Shared() {
			return usage(cmd, "--image-links redirect needs an object store to lead to: --database and --images")
		}
		if a.settings.Nodes > 1 && !a.settings.Shared() {
			return usage(cmd, "--nodes is for several nodes on one database: --database and --images")
		}
		if a.settings.Shared() && a.settings.BackupTo != "" {
			return usage(cmd, "--backup-to is for a data directory; a database and a bucket are backed up by their own means, see docs/scaling.md")
		}
		if a.settings.Dev && a.settings.BackupTo != "" {
			return usage(cmd, "--dev keeps no data, so --backup-to cannot be combined with it")
		}
		return daemon.Run(cmd.Context(), daemon.Options{
			Settings:   a.settings,
			ModelsFile: a.modelsFile,
			Warnings:   a.warnings,
			Version:    thisVersion().Version,
			Human:      isTerminal(a.stderr),
			Output:     a.stderr,
		})
	})
	return c
}
