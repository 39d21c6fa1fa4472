package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
)

const helpWidth = 110

// showUsage prints how a command is called, its flags by group.
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
		fmt.Fprintf(w, "\n%s COMMAND --help tells more of a command.\n", c.CommandPath())
	}
	return nil
}

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

// showFlags prints the flags of a group, if it has any.
func showFlags(w io.Writer, title string, c *cobra.Command, in func(*pflag.Flag) bool) {
	var names, texts []string
	width := 0
	c.Flags().SortFlags = false
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || !in(f) {
			return
		}
		name, text := describe(f)
		names, texts = append(names, name), append(texts, text)
		width = max(width, len(name))
	})
	if len(names) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s:\n", title)
	for i, name := range names {
		fmt.Fprintf(w, "  %-*s   %s\n", width, name, wrap(texts[i], helpWidth-width-5, width+5))
	}
}

// describe is what help says of a flag: its name with the kind of its value, and what it does.
func describe(f *pflag.Flag) (name, text string) {
	kind, text := pflag.UnquoteUsage(f)
	name = "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	if kind != "" {
		name += " " + kind
	}
	if d := f.DefValue; d != "" && d != "false" && d != "0" && d != "0s" && d != "[]" && d != "never" {
		text += " (default " + d + ")"
	}
	if env := config.Variable(f); env != "" {
		text += " [$" + env + "]"
	}
	return name, text
}

// wrap breaks a text into lines of a width; those after the first are indented.
func wrap(text string, width, indent int) string {
	var b strings.Builder
	line := 0
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == 0:
		case line+1+len(word) > width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			line = 0
		default:
			b.WriteByte(' ')
			line++
		}
		b.WriteString(word)
		line += len(word)
	}
	return b.String()
}
