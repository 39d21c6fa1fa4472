package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/admin"
)

// administer makes f the action of c, and declares where the data lies. f gets a Service on that data, which is closed
// afterwards. It need not know whether a running server or this process answers. A disk that failed counts more than the
// error of f, which it may have caused: the exit status tells scripts.
func (a *app) administer(c *cobra.Command, f func(cmd *cobra.Command, s admin.Service, args []string) error) {
	a.settings.DataFlags(c.Flags())
	c.RunE = a.action(func(cmd *cobra.Command, args []string) error {
		// The audit trail takes from the context who acts. A server that is asked finds that out by itself.
		cmd.SetContext(admin.AsCommand(cmd.Context()))
		s, err := admin.Open(cmd.Context(), a.settings.Data)
		if err != nil {
			return err
		}
		err = f(cmd, s, args)
		if closed := s.Close(); err == nil || errors.Is(closed, admin.ErrDisk) {
			return closed
		}
		return err
	})
}

// listing makes c list what elements returns, as list does.
func listing[T any](a *app, c *cobra.Command, elements func(admin.Service, context.Context) ([]T, error), header []string, line func(T) []any) {
	asJSON := jsonFlag(c, "one JSON array")
	a.administer(c, func(cmd *cobra.Command, s admin.Service, _ []string) error {
		all, err := elements(s, cmd.Context())
		if err != nil {
			return err
		}
		return list(a, *asJSON, all, header, line)
	})
}
