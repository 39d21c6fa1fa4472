package cli

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// manCommand prints the manual page for packages: the help of every command. It is hidden, since people have --help.
func (a *app) manCommand() *cobra.Command {
	c := &cobra.Command{Use: "man", Short: "print the manual page", Hidden: true,
		Example: "  imagegend man > /usr/local/share/man/man1/imagegend.1"}
	c.RunE = a.action(func(cmd *cobra.Command, _ []string) error {
		fmt.Fprintf(a.stdout, ".TH IMAGEGEND 1 \"\" \"imagegend %s\"\n.SH NAME\nimagegend \\- %s\n",
			thisVersion().Version, cmd.Root().Short)
		return manSection(a.stdout, cmd.Root())
	})
	return c
}

// manSection prints the help of a command, and of those below it, as it is: its lines are broken already.
func manSection(w io.Writer, c *cobra.Command) error {
	var help bytes.Buffer
	c.SetOut(&help)
	c.InheritedFlags() // merges them, which cobra does otherwise when it parses a command line
	if err := c.Help(); err != nil {
		return err
	}
	fmt.Fprintf(w, ".SH %s\n.nf\n", strings.ToUpper(c.CommandPath()))
	for line := range strings.Lines(help.String()) {
		// The prefix keeps a line that begins with a dot from being taken for a request.
		fmt.Fprint(w, `\&`+strings.NewReplacer(`\`, `\e`, `-`, `\-`).Replace(line))
	}
	fmt.Fprintln(w, ".fi")
	for _, sub := range c.Commands() {
		if !sub.IsAvailableCommand() {
			continue
		}
		if err := manSection(w, sub); err != nil {
			return err
		}
	}
	return nil
}
