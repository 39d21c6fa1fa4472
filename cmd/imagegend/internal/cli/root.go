package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
)

// The identifiers of the groups in which the help of imagegend shows the commands. root gives them their titles.
const (
	groupUse   = "use"
	groupUsers = "users"
	groupData  = "data"
)

// rootCommand builds the tree of commands. PersistentPreRunE fills in the settings before any command runs.
// strictDefaults, strictArguments, complete and parent come last, since they work on the commands that are there.
func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "imagegend",
		Short: "an image generation service metered in credits",
		Long:  "imagegend is an image generation service metered in credits.",
		Example: `  imagegend serve --dev                        try it: nothing to set up, nothing kept
  imagegend serve --models models.yaml         run it, with data in ` + config.DefaultDataDir + `
  imagegend user create alice --credits 1000   add a user, beside the running server
  imagegend key create --user alice            make an API key
  imagegend generate "a fox in the snow"       ask for an image`,
		// Run prints the error, in one line; cobra would print the whole usage with it.
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       thisVersion().String(),
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if a.sources, err = config.Load(cmd.Flags()); err != nil {
				// Status 1 and not 2: a file or a variable can be wrong while the command line is right.
				return &exit{ExitError, err}
			}
			a.warnings = config.Misspelt(os.Environ())
			if cmd.Name() != "serve" { // serve puts them into its announcement
				for _, w := range a.warnings {
					fmt.Fprintln(a.stderr, "imagegend: "+w)
				}
			}
			return nil
		},
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	// cobra would put the name of the program before it, which String has already.
	root.SetVersionTemplate("{{.Version}}\n")
	root.Flags().BoolP("version", "v", false, "show the version")
	root.AddGroup(&cobra.Group{ID: groupUse, Title: "Service:"}, &cobra.Group{ID: groupUsers,
		Title: "Users and credits:"},
		&cobra.Group{ID: groupData, Title: "Data:"})
	// --config is a flag of every command; all other flags belong to the commands that use them.
	config.DeclareFile(root.PersistentFlags())
	root.SetUsageFunc(showUsage)
	root.SetFlagErrorFunc(flagError)
	// A shell offers files behind each flag that does not say what else it takes.
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveDefault)
	addCommands(root, groupUse, a.serveCommand(), a.generateCommand(), a.quoteCommand(), a.mcpCommand(),
		a.providerCommand(), a.doctorCommand())
	addCommands(root, groupUsers, a.userCommand(), a.keyCommand(), a.creditCommand(), a.usageCommand(),
		a.opsKeyCommand())
	addCommands(root, groupData, a.generationCommand(), a.trailCommand(), a.eventsCommand(),
		a.webhookCommand(), a.auditCommand(), a.backupCommand(),
		a.restoreCommand(), a.moveCommand(), a.migrateCommand(), a.clockCommand())
	addCommands(root, "", a.configCommand(), a.openapiCommand(), a.versionCommand(), a.manCommand())
	strictDefaults(root)
	strictArguments(root)
	a.complete(root)
	return parent(root)
}

// addCommands adds commands to a group of the help; the group "" is that of all others.
func addCommands(to *cobra.Command, group string, commands ...*cobra.Command) {
	for _, c := range commands {
		c.GroupID = group
		to.AddCommand(c)
	}
}

// action makes f what a command does. Once f runs, the command line was understood, and errors have exit status 1
// instead of 2.
func (a *app) action(f func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		a.running = true
		return f(cmd, args)
	}
}
