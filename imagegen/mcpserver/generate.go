package mcpserver

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/internal/filename"
)

// wanted is a request for images. It is also the input of quote, so that both take the same.
type wanted struct {
	Prompt     string   `json:"prompt" jsonschema:"what the image shows"`
	Model      string   `json:"model,omitempty" jsonschema:"id of a model; needless where there is one only"`
	Size       string   `json:"size,omitempty" jsonschema:"WIDTHxHEIGHT in pixels, such as 1024x768, or auto"`
	Quality    string   `json:"quality,omitempty" jsonschema:"auto, low, medium or high"`
	N          *int     `json:"n,omitempty" jsonschema:"how many images, 1 to 4; 1 if absent"`
	MaxCredits *int64   `json:"max_credits,omitempty" jsonschema:"refuse the request if all images together cost more"`
	References []string `json:"references,omitempty" jsonschema:"images to go by: ids of images or generations of yours; where the server has a directory, also paths of PNG, JPEG or WebP files in it"`
}

// order is the input of generate_image.
type order struct {
	wanted
	SaveAs string `json:"save_as,omitempty" jsonschema:"path of a new file in the server's directory, without extension; where the server has no directory it must be absent"`
}

// generateImage asks for images and waits for them. What can be refused for nothing, the target and the
// request, comes before beginGeneration: from there on the images are paid for. If the call is cut off then, the
// work goes on, and list_generations finds it.
func (t *tools) generateImage(ctx context.Context, r *mcp.CallToolRequest,
	o order) (*mcp.CallToolResult, generation, error) {
	target, err := t.target(o.SaveAs, o.Prompt)
	if err != nil {
		return nil, generation{}, err
	}
	q, err := t.request(ctx, o.wanted)
	if err != nil {
		return nil, generation{}, err
	}
	made, err := t.beginGeneration(ctx, q)
	if err != nil {
		return nil, generation{}, err
	}
	g, err := t.await(ctx, r, made.Generation)
	if err != nil {
		return nil, generation{}, err
	}
	return t.answer(ctx, g, target)
}

// request converts what a caller asks for. It opens no reference yet.
func (t *tools) request(ctx context.Context, w wanted) (q imagegen.GenerateRequest, err error) {
	q = imagegen.GenerateRequest{Model: w.Model, Prompt: w.Prompt, Quality: imagegen.Quality(w.Quality)}
	if w.N != nil {
		if q.N = *w.N; q.N == 0 { // which would mean to the service that it is absent
			return q, imagegen.Invalid("n must be from 1 to %d; got 0", imagegen.MaxImages)
		}
	}
	if w.MaxCredits != nil {
		if q.MaxCredits = imagegen.Credits(*w.MaxCredits); !q.MaxCredits.Valid() {
			return q, imagegen.Invalid("max_credits must be from 1 to %d; got %d", imagegen.MaxCredits, q.MaxCredits)
		}
	}
	if q.Model == "" {
		if q.Model, err = t.onlyModel(ctx); err != nil {
			return q, err
		}
	}
	if w.Size != "" {
		if q.Size, err = imagegen.ParseSize(w.Size); err != nil {
			return q, err
		}
	}
	q.References, err = t.references(ctx, w.References)
	return q, err
}

// onlyModel returns the model for a request that names none. ErrInvalidRequest: there is not exactly one;
// the message lists them, so that the agent can choose without another call.
func (t *tools) onlyModel(ctx context.Context) (string, error) {
	infos, err := t.Models(ctx)
	if err != nil {
		return "", err
	}
	ids := make([]string, len(infos))
	for i, m := range infos {
		ids[i] = m.ID
	}
	if len(ids) != 1 {
		return "", imagegen.Invalid("model is missing; choose one of: %s", strings.Join(ids, ", "))
	}
	return ids[0], nil
}

// tries is how often a call is made while its outcome is unknown.
const tries = 3

// beginGeneration starts a generation. It repeats the call while the outcome is unknown: under the same idempotency
// key, so that at most one generation is charged.
func (t *tools) beginGeneration(ctx context.Context, q imagegen.GenerateRequest) (result imagegen.Result, err error) {
	q.Async, q.IdempotencyKey = true, rand.Text()
	for range tries {
		if result, err = t.Generate(ctx, q); !errors.Is(err, imagegen.ErrInternal) {
			return result, err
		}
		select {
		case <-ctx.Done():
			return result, ctx.Err()
		case <-time.After(time.Second):
		}
	}
	return result, err
}

// chosen is the input of get_generation.
type chosen struct {
	ID   string `json:"id" jsonschema:"identifier of a generation"`
	Save bool   `json:"save,omitempty" jsonschema:"save the images as new files in the server's directory"`
}

// getGeneration reads a generation, and waits for its end if it has not come. Images are saved under the
// name of the prompt, so one that was saved before is saved again under a further number.
func (t *tools) getGeneration(ctx context.Context, r *mcp.CallToolRequest,
	c chosen) (*mcp.CallToolResult, generation, error) {
	g, err := t.Generation(ctx, imagegen.GenerationID(c.ID))
	if err != nil {
		return nil, generation{}, err
	}
	if g, err = t.await(ctx, r, g); err != nil {
		return nil, generation{}, err
	}
	var to string
	if c.Save {
		if t.Dir == nil {
			return nil, generation{}, imagegen.Invalid("save is not possible: the server has no directory")
		}
		to = filename.OfPrompt(g.Prompt)
	}
	return t.answer(ctx, g, to)
}
