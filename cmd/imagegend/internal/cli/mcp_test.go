package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/cli"
)

// An agent that starts the command has an image made, and finds it in the directory.
func TestMCP(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	var stderr bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		ended <- cli.Run(t.Context(), []string{"mcp", "--dev", "--dir", dir}, in, out, &stderr)
		out.Close()
	}()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	is.NoErr(err)
	r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "generate_image",
		Arguments: map[string]any{"prompt": "a fox", "size": "48x32"}})
	is.NoErr(err)
	var g struct{ Images []struct{ File string } }
	b, err := json.Marshal(r.StructuredContent)
	is.NoErr(err)
	is.NoErr(json.Unmarshal(b, &g))
	file, err := os.Open(filepath.Join(dir, g.Images[0].File))
	is.NoErr(err)
	defer file.Close()
	picture, err := png.DecodeConfig(file)
	is.NoErr(err)
	is.Equal(picture.Width, 48)
	is.NoErr(session.Close()) // as an agent ends: it closes the command's input
	is.Equal(<-ended, cli.ExitOK)
	is.Equal(stderr.String(), "")
}

// An interrupt ends the command while it waits for input.
func TestMCPInterrupted(t *testing.T) {
	is := is.New(t)
	in, _ := io.Pipe()
	ctx, interrupt := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() { ended <- cli.Run(ctx, []string{"mcp", "--dev"}, in, io.Discard, io.Discard) }()
	interrupt()
	is.True(<-ended >= cli.ExitOK)
}

func TestMCPRefusals(t *testing.T) {
	is := is.New(t)
	missing := filepath.Join(t.TempDir(), "missing")
	p := imagegend(t, nil, "mcp", "--dev", "--dir", missing)
	is.Equal(p.code, cli.ExitError)
	is.True(strings.Contains(p.stderr, missing) && strings.Contains(p.stderr, "--dir"))
	p = imagegend(t, nil, "mcp")
	is.Equal(p.code, cli.ExitError)
	is.True(strings.Contains(p.stderr, "API key"))
}
