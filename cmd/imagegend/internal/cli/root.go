package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/internal/nearest"
)

// The groups of commands, as the help shows them.
const (
	groupUse   = "use"
	groupUsers = "users"
	groupData  = "data"
)

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "imagegend",
		Short: "an image generation service metered in credits",
		Long:  "imagegend is an image generation service metered in credits.",
		Example: `  imagegend serve --dev                        try it: nothing to set up, nothing kept
  imagegend serve                              run it, with data in ` + config.DefaultDataDir + `
  imagegend user create alice --credits 1000   add a user, beside the running server
  imagegend key create --user alice            make an API key
  imagegend generate "a fox in the snow"       ask for an image`,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if a.sources, err = config.Load(cmd.Flags(), a.getenv); err != nil {
				return &exit{ExitError, err}
			}
			return nil
		},
	}
	root.AddGroup(&cobra.Group{ID: groupUse, Title: "Service:"}, &cobra.Group{ID: groupUsers, Title: "Users and credits:"},
		&cobra.Group{ID: groupData, Title: "Data:"})
	config.DeclareFile(root.PersistentFlags())
	root.SetUsageFunc(showUsage)
	root.SetFlagErrorFunc(flagError)
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveDefault)
	add(root, groupUse, a.serve(), a.generate(), a.provider())
	add(root, groupUsers, a.user(), a.key(), a.credit())
	add(root, groupData, a.generation(), a.audit(), a.backup(), a.restore(), a.clock())
	add(root, "", a.config(), a.version())
	parent(root)
	return root
}

func add(to *cobra.Command, group string, commands ...*cobra.Command) {
	for _, c := range commands {
		c.GroupID = group
		to.AddCommand(c)
	}
}

// action makes f what the command does. Errors before it are those of the command line.
func (a *app) action(f func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		a.running = true
		return f(cmd, args)
	}
}

// parent makes a command that only has others refuse what it does not have; cobra would show its
// help and report success.
func parent(c *cobra.Command) *cobra.Command {
	c.Args = cobra.ArbitraryArgs
	c.RunE = func(c *cobra.Command, args []string) error {
		var names []string
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				names = append(names, sub.Name())
			}
		}
		if len(args) == 0 && !c.HasParent() {
			return c.Help()
		}
		if len(args) == 0 {
			return fmt.Errorf("%s what? there are %s", c.CommandPath(), strings.Join(names, ", "))
		}
		return fmt.Errorf("unknown command %q for %s%s", args[0], c.CommandPath(), nearest.Hint(args[0], names))
	}
	return c
}

// flagError names the nearest flag that there is.
func flagError(cmd *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	hint := nearest.Hint(unknown.GetSpecifiedName(), names)
	return fmt.Errorf("%w%s", err, strings.Replace(hint, `"`, `"--`, 1))
}
