package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/internal/nearest"
)

// parent makes a command that only has others refuse what it does not have; cobra would show its
// help and report success.
func parent(c *cobra.Command) *cobra.Command {
	c.Args = cobra.ArbitraryArgs
	c.RunE = func(c *cobra.Command, args []string) error {
		switch {
		case len(args) > 0:
			return unknownCommand(c, args[0])
		case !c.HasParent():
			return c.Help()
		}
		return fmt.Errorf("%s what? there are %s", c.CommandPath(), strings.Join(subcommands(c), ", "))
	}
	return c
}

func unknownCommand(of *cobra.Command, name string) error {
	return fmt.Errorf("unknown command %q for %s%s", name, of.CommandPath(), nearest.Hint(name, subcommands(of)))
}

func subcommands(c *cobra.Command) (names []string) {
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return names
}

// strictDefaults holds the commands that cobra adds to the rules of all others.
func strictDefaults(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "completion":
			parent(c)
		case "help":
			c.Run, c.RunE = nil, help
		}
	}
}

// help shows the help of the command that its arguments name.
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
