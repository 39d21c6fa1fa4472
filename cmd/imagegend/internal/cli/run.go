// Package cli is the command imagegend: its tree of commands, what they print, and the status with
// which they end.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/admin"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
)

// What the command exits with.
const (
	ExitOK         = 0
	ExitError      = 1
	ExitUsage      = 2
	ExitViolations = 3  // an audit found something
	ExitDisk       = 74 // the disk failed under a commit; sysexits.h calls it EX_IOERR
)

// app is one run of the command.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer

	settings config.Settings
	sources  *config.Sources
	warnings []string
	running  bool // the command line was understood
}

// Run runs one command and returns its exit status. When ctx ends, the command ends in order: a server drains.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr}
	root := a.root()
	root.SetArgs(args)
	ran, err := root.ExecuteContextC(ctx)
	if err == nil {
		return ExitOK
	}
	code := ExitError
	coded, ok := errors.AsType[*exit](err)
	switch {
	case ok:
		code = coded.code
	case errors.Is(err, admin.ErrDisk):
		code = ExitDisk
	case !a.running:
		code, err = ExitUsage, fmt.Errorf("%w; see %s --help", err, ran.CommandPath())
	case errors.Is(err, context.Canceled):
		err = errors.New("interrupted")
	}
	fmt.Fprintln(stderr, "imagegend: "+forPeople(err.Error()))
	return code
}

// exit is an error with a status of its own.
type exit struct {
	code int
	err  error
}

func (e *exit) Error() string { return e.err.Error() }
func (e *exit) Unwrap() error { return e.err }

// usage is the error of a command line that cannot be meant so.
func usage(cmd *cobra.Command, format string, args ...any) error {
	return &exit{ExitUsage, fmt.Errorf(format+"; see %s --help", append(args, cmd.CommandPath())...)}
}

// forPeople makes one line of several errors, without the name of the package that speaks.
func forPeople(s string) string {
	lines := strings.FieldsFunc(s, func(r rune) bool { return r == '\n' })
	for i, line := range lines {
		for _, name := range []string{"imagegen: ", "storage: ", "transfer: ", "client: "} {
			line = strings.TrimPrefix(line, name)
		}
		lines[i] = line
	}
	return strings.Join(lines, "; ")
}
