package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/adminserver"
	"github.com/imagegend/imagegend/imagegen/client/admin"
)

// administer makes f the action of c, and declares where the data lies. f gets a Caller for that data, which is closed
// afterwards. It need not know whether a running server or this process answers. A disk that failed counts more than
// the error of f, which it may have caused: the exit status tells scripts.
func (a *app) administer(c *cobra.Command, f func(cmd *cobra.Command, s admin.Caller, args []string) error) {
	a.settings.DataFlags(c.Flags())
	c.RunE = a.action(func(cmd *cobra.Command, args []string) error {
		// The audit trail takes from the context who acts. A server that is asked finds that out by itself.
		cmd.SetContext(adminserver.AsCommand(cmd.Context()))
		s, err := adminserver.Open(cmd.Context(), a.settings.Data)
		if err != nil {
			return err
		}
		err = f(cmd, s, args)
		if closed := s.Close(); err == nil || errors.Is(closed, adminserver.ErrDisk) {
			return closed
		}
		return err
	})
}

// listing makes c list what elements returns, as list does.
func listing[T any](a *app, c *cobra.Command, elements func(context.Context, admin.Caller) ([]T, error),
	header []string, line func(T) []any) {
	asJSON := jsonFlag(c, "one JSON array")
	a.administer(c, func(cmd *cobra.Command, s admin.Caller, _ []string) error {
		all, err := elements(cmd.Context(), s)
		if err != nil {
			return err
		}
		return printList(a, *asJSON, all, header, line)
	})
}

// calling makes a call with what the flags have put into in.
func calling[In, Out any](call admin.Call[In, Out], in *In) func(context.Context, admin.Caller) (Out, error) {
	return func(ctx context.Context, s admin.Caller) (Out, error) { return call.Do(ctx, s, *in) }
}

// answering makes c print what answer returns: line, or the answer as JSON. Text of users in a line must go through
// plain.
func answering[Out any](a *app, c *cobra.Command, answer func(context.Context, admin.Caller) (Out, error),
	line func(Out) string) {
	asJSON := jsonFlag(c, "one JSON object")
	a.administer(c, func(cmd *cobra.Command, s admin.Caller, _ []string) error {
		out, err := answer(cmd.Context(), s)
		if err != nil {
			return err
		}
		return a.printResult(*asJSON, out, "%s", line(out))
	})
}

// changing makes c put its only argument into arg, make a call with in, and print the answer, as answering does.
func changing[In, Out any, S ~string](a *app, c *cobra.Command, call admin.Call[In, Out], in *In, arg *S,
	line func(Out) string) {
	answering(a, c, func(ctx context.Context, s admin.Caller) (Out, error) {
		*arg = S(c.Flags().Arg(0))
		return call.Do(ctx, s, *in)
	}, line)
}
