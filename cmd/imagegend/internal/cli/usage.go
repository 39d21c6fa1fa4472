package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
)

// helpWidth is the width, in columns, at which help breaks lines.
const helpWidth = 110

// showUsage prints how a command is called, in place of cobra's template: examples, subcommands by group, and flags
// by group.
func showUsage(c *cobra.Command) error {
	w := c.OutOrStderr()
	line := c.UseLine()
	if c.HasAvailableSubCommands() {
		line = c.CommandPath() + " COMMAND"
	}
	fmt.Fprintf(w, "Usage:\n  %s\n", line)
	if c.HasExample() {
		fmt.Fprintf(w, "\nExamples:\n%s\n", c.Example)
	}
	showCommands(w, c)
	for _, group := range config.Groups() {
		showFlags(w, group, c, func(f *pflag.Flag) bool { return config.Group(f) == group })
	}
	showFlags(w, "Flags", c, func(f *pflag.Flag) bool { return config.Group(f) == "" })
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\n%s COMMAND --help tells more about a command.\n", c.CommandPath())
	}
	return nil
}

// showCommands prints the subcommands by group. A group without any has no title.
func showCommands(w io.Writer, c *cobra.Command) {
	groups := append(c.Groups(), &cobra.Group{Title: "Other:"})
	for _, g := range groups {
		title := "\n" + g.Title + "\n"
		for _, sub := range c.Commands() {
			if sub.GroupID == g.ID && sub.IsAvailableCommand() {
				fmt.Fprintf(w, "%s  %-12s %s\n", title, sub.Name(), sub.Short)
				title = ""
			}
		}
	}
}

// showFlags prints the flags for which in is true, each with its environment variable, if there are any. It changes
// copies: the flags themselves belong to the command.
func showFlags(w io.Writer, title string, c *cobra.Command, in func(*pflag.Flag) bool) {
	group := pflag.NewFlagSet(title, pflag.ContinueOnError)
	// The order of the declaration: what belongs together stands together.
	group.SortFlags, c.Flags().SortFlags = false, false
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !in(f) {
			return
		}
		shown := *f
		if env := config.Variable(f); env != "" {
			shown.Usage += " [$" + env + "]"
		}
		group.AddFlag(&shown)
	})
	if group.HasAvailableFlags() {
		fmt.Fprintf(w, "\n%s:\n%s", title, group.FlagUsagesWrapped(helpWidth))
	}
}
