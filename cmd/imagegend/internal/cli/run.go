// Package cli is the command imagegend: its tree of commands, what they print, and their exit statuses.
//
// A method of app builds each command, in a file named after it. Most do little: they fill a request from flags and
// arguments, make a call, and print the result. Those that administer make an admin.Call by what [adminserver.Open]
// reaches (connect.go); generate, quote and mcp call an imagegen.Service, over HTTP or in process (generate.go); serve
// hands over to package daemon.
//
// Rules that all commands follow: standard output has the result alone, and notes go to standard error; --json prints
// one JSON value (trail: one for each row); an error is one line that says what to do. Flags are of two kinds.
// Settings, which have an environment variable and a key in the file too, are declared in package config; all others
// in the command.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/adminserver"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
)

// The exit statuses. Scripts rely on them.
const (
	ExitOK         = 0
	ExitError      = 1  // the command was carried out and failed, or a configuration is wrong
	ExitUsage      = 2  // the command line makes no sense; nothing was done
	ExitViolations = 3  // an audit found something
	ExitDisk       = 74 // the disk failed under a commit; sysexits.h calls it EX_IOERR
)

// app is one run of the command. Its fields are set before the action of the command runs.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer

	settings config.Settings
	sources  *config.Sources // where the settings come from
	warnings []string        // variables that look like misspelt settings
	running  bool            // the command line was understood, and its action runs
}

// Run runs one command and returns its exit status. Errors go to stderr. When ctx ends, the command ends in order: a
// server drains.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr}
	root := a.rootCommand()
	root.SetArgs(args)
	ran, err := root.ExecuteContextC(ctx)
	if err == nil {
		return ExitOK
	}
	code := ExitError
	coded, ok := errors.AsType[*exit](err)
	switch {
	// A status of its own comes first; then a failed disk, under whatever it caused; then a wrong command line.
	case ok:
		code = coded.code
	case errors.Is(err, adminserver.ErrDisk):
		code = ExitDisk
	case !a.running:
		code, err = ExitUsage, fmt.Errorf("%w; see %s --help", err, ran.CommandPath())
	case errors.Is(err, context.Canceled):
		err = errors.New("interrupted")
	}
	fmt.Fprintln(stderr, "imagegend: "+forPeople(err.Error()))
	return code
}

// exit is an error with an exit status of its own. Run adds no hint at --help to it, and does not shorten it to
// "interrupted".
type exit struct {
	code int
	err  error
}

func (e *exit) Error() string { return e.err.Error() }
func (e *exit) Unwrap() error { return e.err }

// usage returns the error of a command line that was understood but makes no sense: exit status 2, with a hint at the
// help of cmd.
func usage(cmd *cobra.Command, format string, args ...any) error {
	return &exit{ExitUsage, fmt.Errorf(format+"; see %s --help", append(args, cmd.CommandPath())...)}
}

// forPeople makes one line of joined errors, without the names of packages in front.
func forPeople(s string) string {
	lines := strings.FieldsFunc(s, func(r rune) bool { return r == '\n' })
	for i, line := range lines {
		for _, name := range []string{"imagegen: ", "storage: ", "postgres: ", "s3: ", "ledger: ", "transfer: ",
			"client: "} {
			line = strings.TrimPrefix(line, name)
		}
		lines[i] = strings.TrimSpace(line)
	}
	// a line that ends with a colon goes on in the next
	return strings.ReplaceAll(strings.Join(lines, "; "), ":; ", ": ")
}
