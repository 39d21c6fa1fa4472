// Package mcpserver offers an [imagegen.Service] to agents, as tools of the Model Context
// Protocol:
//
//	server := mcpserver.New(service, mcpserver.Options{})
//	err := server.Run(ctx, &mcp.StdioTransport{})
//
// All generations are asynchronous: if one takes longer than Options.MaxWait, the call returns its
// identifier, with which the agent asks again. Package httpapi/mcphttp serves the same tools over
// HTTP.
//
// tools.go declares the tools. What a tool takes and returns is a struct, whose tags are the schema
// that agents read: changing them changes what models do. Errors go to the agent as text that it can
// act on, see explain. A server has one Service, and so one user: the program authenticates that user.
package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"
	"runtime/debug"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/imagegend/imagegend/imagegen"
)

// Options configure New. The zero value works.
type Options struct {
	Version string // of the program, for clients to show

	// Dir is the directory in which tools read reference images and write images: no path
	// leads out of it, and no existing file is overwritten. The caller closes it
	// after the server has ended. nil: no files.
	Dir *os.Root

	// ImageURL returns the address of an image, for a service in process, whose images have
	// none. nil: Image.URL.
	ImageURL func(imagegen.ImageID) string

	// MaxWait is how long a call waits for its images before it returns the identifier. 0: 45 s, since
	// many clients give up after 60.
	MaxWait time.Duration

	// Schemas is a cache that several servers can share, for a program that makes a server for each
	// request. nil: none.
	Schemas *mcp.SchemaCache

	// Log gets failures that the caller did not cause. Neither prompts nor keys are logged. nil: silent.
	Log *slog.Logger
}

const defaultPatience = 45 * time.Second

// instructions are for the model of a client, which may put them into its context when it connects.
const instructions = "Generates images, which cost credits. Call generate_image; if it answers with an identifier and the status queued or " +
	"processing, call get_generation with it until the status is succeeded or failed, and do not ask for the image again. " +
	"quote tells a price beforehand."

// New returns a server for one user's service. It can be connected to several clients,
// and is safe for concurrent use. It starts no goroutine: the caller runs it, or connects it to
// transports, and ends it by cancelling their context.
func New(s imagegen.Service, o Options) *mcp.Server {
	o.MaxWait = cmp.Or(o.MaxWait, defaultPatience)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	server := mcp.NewServer(&mcp.Implementation{Name: "imagegend", Title: "imagegend", Version: o.Version},
		&mcp.ServerOptions{Instructions: instructions,
			Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}, SchemaCache: o.Schemas})
	t := &tools{Service: s, Options: o, takes: map[string][]string{}}
	server.AddReceivingMiddleware(t.guard, t.arguments)
	t.addTo(server)
	return server
}

// tools are the tools of one user. They keep nothing between calls, so they are safe for concurrent use.
type tools struct {
	imagegen.Service
	Options
	takes map[string][]string // the names of each tool's arguments; only New writes it
}

// guard keeps a panic in a tool from ending the program: the call fails, and the log has the stack.
func (t *tools) guard(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (result mcp.Result, err error) {
		defer func() {
			if p := recover(); p != nil {
				t.Log.ErrorContext(ctx, "an MCP call panicked", "method", method, "panic", p, "stack",
					string(debug.Stack()))
				result, err = nil, errors.New(imagegen.ErrInternal.Message)
			}
		}()
		return next(ctx, method, r)
	}
}

// explain returns what a caller may know of an error: its code and message, so that an agent can correct
// the call. The cause only goes to the log. Any other error becomes an internal one, or as a call
// that was cut off.
func (t *tools) explain(ctx context.Context, err error) error {
	if e, ok := errors.AsType[*imagegen.Error](err); ok {
		if e.Err != nil {
			t.Log.WarnContext(ctx, "an MCP call failed", "error", e)
		}
		return errors.New(string(e.Code) + ": " + e.Message)
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return errors.New("the call was cut off; list_generations tells whether it was accepted")
	}
	t.Log.ErrorContext(ctx, "an MCP call failed", "error", err)
	return errors.New(string(imagegen.CodeInternal) + ": " + imagegen.ErrInternal.Message)
}
