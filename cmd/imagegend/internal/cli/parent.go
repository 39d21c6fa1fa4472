package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/internal/nearest"
)

// parent gives a command its subcommands and, since it only has those, makes it refuse everything else. cobra would
// show its help and report success, so a script would not notice a misspelt command. Only imagegend on its own shows
// its help.
func parent(c *cobra.Command, subs ...*cobra.Command) *cobra.Command {
	c.AddCommand(subs...)
	c.Args = cobra.ArbitraryArgs
	c.RunE = func(c *cobra.Command, args []string) error {
		switch {
		case len(args) > 0:
			return unknownCommand(c, args[0])
		case !c.HasParent():
			return c.Help()
		}
		return fmt.Errorf("%s needs a command: %s", c.CommandPath(), strings.Join(subcommands(c), ", "))
	}
	return c
}

// unknownCommand returns the error of a subcommand that does not exist. It names the nearest one, if any is near.
func unknownCommand(of *cobra.Command, name string) error {
	return fmt.Errorf("unknown command %q for %s%s", name, of.CommandPath(), nearest.Hint(name, subcommands(of)))
}

// subcommands lists the names of the commands that help shows, which leaves out hidden and deprecated ones.
func subcommands(c *cobra.Command) (names []string) {
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return names
}

// strictDefaults makes the commands that cobra adds, help and completion, follow the rules of all others. cobra would
// add them only when it reads a command line, so they are added here, where they can be changed.
func strictDefaults(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "completion":
			parent(c)
		case "help":
			c.Args, c.Run, c.RunE = cobra.ArbitraryArgs, nil, help
		}
	}
}

// strictArguments makes a command, and those below it, refuse arguments unless it says which it takes.
func strictArguments(c *cobra.Command) {
	if c.Args == nil {
		c.Args = exactly()
	}
	for _, sub := range c.Commands() {
		strictArguments(sub)
	}
}

// help shows the help of the command that the arguments name. Unlike cobra's help command, it returns an error if
// there is no such command.
func help(c *cobra.Command, args []string) error {
	topic, rest, err := c.Root().Find(args)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return usage(topic, "%w", unknownCommand(topic, rest[0]))
	}
	topic.InitDefaultHelpFlag() // or the help would not list it
	return topic.Help()
}
