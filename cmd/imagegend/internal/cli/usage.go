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
// by group. cobra prints the description of the command before it.
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
	// Settings first, by their groups; then the flags that belong to this command alone.
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
	// Only imagegend itself groups its commands.
	rest := &cobra.Group{Title: "Commands:"}
	if len(c.Groups()) > 0 {
		rest.Title = "Other:"
	}
	width := 12
	for _, sub := range c.Commands() {
		width = max(width, len(sub.Name()))
	}
	for _, g := range append(c.Groups(), rest) {
		title := "\n" + g.Title + "\n"
		for _, sub := range c.Commands() {
			if sub.GroupID == g.ID && sub.IsAvailableCommand() {
				fmt.Fprintf(w, "%s  %-*s %s\n", title, width, sub.Name(), sub.Short)
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
		// The variable stands with the flag, so that nobody has to derive its name.
		if env := config.Variable(f); env != "" {
			shown.Usage += " [$" + env + "]"
		}
		group.AddFlag(&shown)
	})
	if group.HasAvailableFlags() {
		fmt.Fprintf(w, "\n%s:\n%s", title, group.FlagUsagesWrapped(helpWidth))
	}
}
