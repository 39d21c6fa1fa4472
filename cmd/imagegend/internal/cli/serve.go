package cli

import (
	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemon"
)

// serve refuses what the flags cannot mean together, as a wrong command line. daemon.Run makes the other checks.
func (a *app) serve() *cobra.Command {
	c := &cobra.Command{
		Use:   "serve",
		Short: "run the service",
		Long: "Runs the service. The data directory is made if there is none. Every flag can also be given as the\n" +
			"environment variable that stands beside it, or as a key of imagegend.yaml.\n\n" +
			"SIGHUP reads the models again; models that cannot be used are refused, and the old ones stay. SIGTERM drains: no\n" +
			"new work is taken, and work under way has --drain-timeout to end. A second signal ends the service at once. Exit\n" +
			"status 74 says that the disk failed under a commit: check the disk before you start the service again.",
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
		// Images in a data directory have no address but that of the service.
		if a.settings.ImageLinks == config.Redirect && !a.settings.Shared() {
			return usage(cmd, "--image-links redirect needs an object store to lead to: --database and --images")
		}
		// Each node takes a share of what upstreams allow. A directory has one node, which would take too little.
		if a.settings.Nodes > 1 && !a.settings.Shared() {
			return usage(cmd, "--nodes is for several nodes on one database: --database and --images")
		}
		// Every node would make the same backup, and the backups of the database itself lose less.
		if a.settings.Shared() && a.settings.BackupTo != "" {
			return usage(cmd, "--backup-to is for a data directory; a database and a bucket are backed up by their own means, see docs/scaling.md")
		}
		if a.settings.Dev && a.settings.BackupTo != "" {
			return usage(cmd, "--dev keeps no data, so --backup-to cannot be combined with it")
		}
		return daemon.Run(cmd.Context(), daemon.Options{
			Settings: a.settings,
			// Called again at each SIGHUP, since a file may be there by then.
			ModelsFile: a.modelsFile,
			// Shown in the announcement, so that a log has them too; other commands print them at once.
			Warnings: a.warnings,
			Version:  thisVersion().Version,
			// Output is for people if somebody may be looking at it; --log-format decides otherwise.
			Human:  isTerminal(a.stderr),
			Output: a.stderr,
		})
	})
	return c
}
