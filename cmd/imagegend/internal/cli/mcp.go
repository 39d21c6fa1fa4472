package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/imagegen/mcpserver"
)

// longestLine bounds a message of an agent, which is one line, in bytes. Images are not in messages but in files, so a
// megabyte is far more than a prompt takes.
const longestLine = 1 << 20

// mcpCommand runs until the agent closes standard input. Standard input and output belong to the protocol, so
// everything for people goes to standard error.
func (a *app) mcpCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "mcp",
		Short: "offer the service to an agent on this machine (Model Context Protocol)",
		Long: "Speaks the Model Context Protocol on standard input and output, which is how desktop agents run their tools.\n" +
			"Agents can ask for images, read what was generated, and see models, prices and the balance. With --dir they\n" +
			"can use the files of one directory as references and save images in it; nothing is overwritten. A running\n" +
			"service offers the same, without files, at /mcp.",
		Example: "  IMAGEGEND_API_KEY=img_live_… imagegend mcp --url https://images.example.com --dir ~/Pictures\n" +
			"  imagegend mcp --dev --dir .",
	}
	a.settings.MCPFlags(c.Flags())
	c.RunE = a.action(func(cmd *cobra.Command, _ []string) error {
		dir, err := openDir(a.settings.Dir)
		if err != nil {
			return err
		}
		if dir != nil {
			defer dir.Close()
		}
		s, done, err := a.service(cmd)
		if err != nil {
			return err
		}
		defer done()
		log := slog.New(slog.NewTextHandler(a.stderr, nil))
		server := mcpserver.New(s, mcpserver.Options{Version: thisVersion().Version, Dir: dir, Log: log})
		return talk(cmd.Context(), server, a.stdin, a.stdout)
	})
	return c
}

// openDir opens the directory that agents may use; nil if there is none. An os.Root keeps every name within it, links
// included.
func openDir(path string) (*os.Root, error) {
	if path == "" {
		return nil, nil
	}
	dir, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("the directory %s cannot be used: %w; name another with --dir", path, reason(err))
	}
	return dir, nil
}

// talk serves until the agent closes its side. That, and an interruption, are ordinary ends.
func talk(ctx context.Context, s *mcp.Server, in io.Reader, out io.Writer) error {
	err := s.Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(in), Writer: unclosed{out}, MaxLineLength: longestLine})
	// The context is asked, and not the error: an interruption can break off a read or a write, whose error is
	// another.
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return nil
	}
	return err
}

// unclosed keeps the transport from closing standard output, which is not its own.
type unclosed struct{ io.Writer }

// Close implements io.Closer.
func (unclosed) Close() error { return nil }
