package mcpserver

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/internal/filename"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// wanted are images that a caller asks for.
type wanted struct {
	Prompt     string   `json:"prompt" jsonschema:"what the image shows"`
	Model      string   `json:"model,omitempty" jsonschema:"id of a model; needless where there is one only"`
	Size       string   `json:"size,omitempty" jsonschema:"WIDTHxHEIGHT in pixels, such as 1024x768, or auto"`
	Quality    string   `json:"quality,omitempty" jsonschema:"auto, low, medium or high"`
	N          int      `json:"n,omitempty" jsonschema:"how many images, 1 to 4; 1 if absent"`
	References []string `json:"references,omitempty" jsonschema:"images to go by: ids of images or generations of yours; where the server has a directory, also paths of PNG, JPEG or WebP files in it"`
}

type order struct {
	wanted
	SaveAs string `json:"save_as,omitempty" jsonschema:"path of a new file in the server's directory, without extension; where the server has no directory it must be absent"`
}

func (t *tools) generateImage(ctx context.Context, r *mcp.CallToolRequest, o order) (*mcp.CallToolResult, generation, error) {
	target, err := t.target(o.SaveAs, o.Prompt)
	if err != nil {
		return nil, generation{}, err
	}
	q, err := t.request(ctx, o.wanted)
	if err != nil {
		return nil, generation{}, err
	}
	made, err := t.ask(ctx, q)
	if err != nil {
		return nil, generation{}, err
	}
	g, err := t.await(ctx, r, made.Generation)
	if err != nil {
		return nil, generation{}, err
	}
	return t.answer(ctx, g, target)
}

// request is what a caller asks for, as the service takes it.
func (t *tools) request(ctx context.Context, w wanted) (q imagegen.GenerateRequest, err error) {
	q = imagegen.GenerateRequest{Model: w.Model, Prompt: w.Prompt, Quality: imagegen.Quality(w.Quality), N: w.N}
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

// onlyModel is the model of a request that names none.
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

// tries is how often a call is made of which no answer came: under one idempotency key it is charged once.
const tries = 3

// ask starts a generation. It repeats the call with the same idempotency key while the
// outcome is unknown.
func (t *tools) ask(ctx context.Context, q imagegen.GenerateRequest) (result imagegen.Result, err error) {
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

// chosen is one generation that a caller asks for.
type chosen struct {
	ID   string `json:"id" jsonschema:"identifier of a generation"`
	Save bool   `json:"save,omitempty" jsonschema:"save the images as new files in the server's directory"`
}

func (t *tools) getGeneration(ctx context.Context, r *mcp.CallToolRequest, c chosen) (*mcp.CallToolResult, generation, error) {
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
			return nil, generation{}, imagegen.Invalid("save has no place here: the server has no directory")
		}
		to = filename.OfPrompt(g.Prompt)
	}
	return t.answer(ctx, g, to)
}
