package cli

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemon"
)

// serveCommand refuses settings that cannot be meant together as a wrong command line. daemon.Run makes the other
// checks.
func (a *app) serveCommand() *cobra.Command {
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
	}
	a.settings.ServeFlags(c.Flags())
	c.RunE = a.action(func(cmd *cobra.Command, _ []string) error {
		if err := daemon.Check(a.settings, a.sources); err != nil {
			return usage(cmd, "%w", err)
		}
		file := a.sources.File
		if abs, err := filepath.Abs(file); err == nil && file != "" { // it may be one of the working directory
			file = abs
		}
		return daemon.Run(cmd.Context(), daemon.Options{
			Settings: a.settings,
			File:     file,
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
