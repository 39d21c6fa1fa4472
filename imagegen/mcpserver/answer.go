package mcpserver

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/internal/wire"
)

// generation is what an agent sees of a generation.
type generation struct {
	ID        imagegen.GenerationID `json:"id"`
	Status    imagegen.Status       `json:"status" jsonschema:"queued, processing, succeeded or failed"`
	Model     string                `json:"model"`
	Prompt    string                `json:"prompt"`
	CreatedAt string                `json:"created_at"`
	N         int                   `json:"n" jsonschema:"images asked for"`
	Credits   imagegen.Credits      `json:"credits" jsonschema:"charged; 0 until it succeeded"`
	Requested imagegen.Credits      `json:"credits_requested"`
	Images    []madeImage           `json:"images"`
	Error     string                `json:"error,omitempty" jsonschema:"why it failed"`
}

// madeImage is one image of a generation, without its bytes: an agent gets a preview, and its user the
// address or the file.
type madeImage struct {
	ID        imagegen.ImageID `json:"id"`
	URL       string           `json:"url,omitempty" jsonschema:"address of the image, which needs no key"`
	Width     int              `json:"width"`
	Height    int              `json:"height"`
	MediaType string           `json:"content_type"`
	Origin    string           `json:"provenance,omitempty" jsonschema:"kept: what its maker wrote into the file about its origin is there; rewritten: the service changed the file and noted that a model made it; none: the file says nothing of it"`
	File      string           `json:"file,omitempty" jsonschema:"where it was saved, in the server's directory"`
}

// tell converts a generation and leaves out what agents have no use for. The address of an image is that
// of the service, or else that of ImageURL.
func (t *tools) tell(g imagegen.Generation) generation {
	out := generation{ID: g.ID, Status: g.Status, Model: g.Model, Prompt: g.Prompt, CreatedAt: stamp(g.CreatedAt),
		N: g.N, Credits: g.Credits, Requested: g.CreditsRequested, Images: make([]madeImage, len(g.Images))}
	for i, m := range g.Images {
		out.Images[i] = madeImage{ID: m.ID, URL: m.URL, Width: m.Width, Height: m.Height, MediaType: m.MediaType,
			Origin: string(m.Provenance)}
		if m.URL == "" && t.ImageURL != nil {
			out.Images[i].URL = t.ImageURL(m.ID)
		}
	}
	if g.Failure != nil {
		out.Error = string(g.Failure.Code) + ": " + g.Failure.Message
	}
	return out
}

// stamp is a time as over HTTP.
func stamp(at time.Time) string { return at.UTC().Format(wire.TimeLayout) }

// answer is the result about a generation: text, a link to each image and a preview of the first, for
// models, and the same as structured content, for programs. to is where the images are saved, as target
// returns it; "": nowhere. If one could not be saved, the error says where it is: it was paid for. A
// failed generation is a result with IsError, not an error, so that the agent gets its identifier.
func (t *tools) answer(ctx context.Context, g imagegen.Generation, to string) (*mcp.CallToolResult, generation, error) {
	out := t.tell(g)
	if to != "" {
		for i := range out.Images {
			file, err := t.save(ctx, out.Images[i], to, i, len(out.Images))
			if err != nil {
				return nil, out, err
			}
			out.Images[i].File = file
		}
	}
	result := &mcp.CallToolResult{IsError: g.Status == imagegen.StatusFailed}
	result.Content = append(result.Content, &mcp.TextContent{Text: out.text()})
	for _, p := range out.Images {
		if p.URL != "" {
			result.Content = append(result.Content, &mcp.ResourceLink{URI: p.URL, Name: string(p.ID),
				MIMEType: p.MediaType})
		}
	}
	if len(g.Images) > 0 {
		if preview := t.preview(ctx, g.Images[0]); preview != nil {
			result.Content = append(result.Content, &mcp.ImageContent{Data: preview, MIMEType: "image/jpeg"})
		}
	}
	return result, out, nil
}

// text says the same for clients that hand no structured content to their model.
func (g generation) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s is %s", g.ID, g.Status)
	switch g.Status {
	case imagegen.StatusSucceeded:
		fmt.Fprintf(&b, ": %d of %d images, %d credits.", len(g.Images), g.N, g.Credits)
	case imagegen.StatusFailed:
		fmt.Fprintf(&b, "; nothing was charged. %s", g.Error)
	default:
		fmt.Fprintf(&b,
			". It is paid for and goes on: call get_generation with this identifier, do not ask for the image again.")
	}
	for _, p := range g.Images {
		fmt.Fprintf(&b, "\n%s: %d×%d %s", p.ID, p.Width, p.Height, p.MediaType)
		if p.File != "" {
			fmt.Fprintf(&b, ", saved as %s", p.File)
		}
		if p.URL != "" {
			fmt.Fprintf(&b, ", %s", p.URL)
		}
	}
	return b.String()
}
