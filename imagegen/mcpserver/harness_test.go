package mcpserver_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/matryer/is"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
	"github.com/imagegend/imagegend/imagegen/mcpserver"
)

// agent is a client of a server, as Alice.
type agent struct {
	*testing.T
	is *is.I
	imagegentest.Running
	*mcp.ClientSession

	mu       sync.Mutex
	progress []mcp.ProgressNotificationParams
}

// alice connects to the tools of Alice, who has 100 credits.
func alice(t *testing.T, o mcpserver.Options, change ...func(*engine.Config)) *agent {
	t.Helper()
	running := imagegentest.Start(t, change...)
	return over(t, running, running.As(imagegentest.Alice), o)
}

// over connects to the tools of a service.
func over(t *testing.T, running imagegentest.Running, s imagegen.Service, o mcpserver.Options) *agent {
	t.Helper()
	a := &agent{T: t, is: is.New(t), Running: running}
	here, there := mcp.NewInMemoryTransports()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- mcpserver.New(s, o).Run(ctx, there) }()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.progress = append(a.progress, *r.Params)
		},
	})
	var err error
	a.ClientSession, err = client.Connect(ctx, here, nil)
	a.is.NoErr(err)
	t.Cleanup(func() {
		a.Close()
		cancel()
		<-ended
	})
	return a
}

// seen is a generation as tools show it.
type seen struct {
	ID, Status, Prompt, Error string
	N, Credits                int
	Images                    []struct {
		ID, URL, File string
		Width, Height int
	}
}

// call calls a tool that must succeed, and reads its structure into v, unless that is nil.
func (a *agent) call(tool string, arguments map[string]any, v any) *mcp.CallToolResult {
	a.Helper()
	r, err := a.CallTool(a.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments,
		Meta: mcp.Meta{"progressToken": "p"}})
	a.is.NoErr(err)
	if r.IsError {
		a.Fatalf("%s: %s", tool, text(r))
	}
	if v != nil {
		b, err := json.Marshal(r.StructuredContent)
		a.is.NoErr(err)
		a.is.NoErr(json.Unmarshal(b, v))
	}
	return r
}

// refused calls a tool that must fail with a message that mentions all of these, and returns it.
func (a *agent) refused(tool string, arguments map[string]any, mentions ...string) string {
	a.Helper()
	r, err := a.CallTool(a.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return err.Error()
	}
	message := text(r)
	if !r.IsError {
		a.Fatalf("%s succeeded: %s", tool, message)
	}
	for _, m := range mentions {
		if !strings.Contains(message, m) {
			a.Errorf("%s does not mention %q: %s", tool, m, message)
		}
	}
	return message
}

// text is what an answer says.
func text(r *mcp.CallToolResult) (all string) {
	for _, c := range r.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			all += t.Text
		}
	}
	return all
}

// spent is what Alice has spent.
func (a *agent) spent() int {
	a.Helper()
	b, err := a.As(imagegentest.Alice).Balance(a.Context())
	a.is.NoErr(err)
	return 100 - int(b.Credits)
}

// directory is a new one, and how its files are read.
func directory(t *testing.T) (*os.Root, func(name string) string) {
	t.Helper()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root, func(name string) string {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
}
