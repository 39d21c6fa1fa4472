package mcpserver

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/imagegend/imagegend/imagegen"
)

// addTo declares the tools. Whether files can be read and written shows in their descriptions.
func (t *tools) addTo(server *mcp.Server) {
	add(server, t, reads("list_models", "List models", "List the models, their prices in credits and their limits."),
		t.listModels)
	add(server, t, reads("get_balance", "Balance", "Tell how many credits are left, and which expire first."),
		t.getBalance)
	add(server, t, reads("quote", "Price of images",
		"Tell what generate_image would charge for the same request. Nothing is charged."), t.quote)
	add(server, t, reads("list_generations", "List generations",
		"List what was generated, newest first. A long prompt is cut; get_generation has it whole."), t.listGenerations)
	add(server, t, getting(t.Dir != nil), t.getGeneration)
	add(server, t, &mcp.Tool{Name: "generate_image", Title: "Generate images",
		Description: describeGenerate(t.Dir != nil), Annotations: &mcp.ToolAnnotations{DestructiveHint: new(bool)}},
		t.generateImage)
}

// describeGenerate is the description of generate_image. It must keep models from asking again while the
// work goes on, which would cost twice.
func describeGenerate(files bool) string {
	d := "Generate images from a prompt. It costs credits; each image that does not come is refunded. " +
		"If it takes long the answer is an identifier: call get_generation with it. "
	if files {
		return d + "Images are saved as new files in the server's directory, and reference images can be read from it."
	}
	return d + "The answer has the address of each image and a small preview."
}

// getting declares get_generation. With a directory it can write files, so it is no longer read-only; it
// never overwrites any, so it is not destructive.
func getting(files bool) *mcp.Tool {
	d := "Read one generation: its status and its images. While it is queued or processing, the call waits for its end."
	tool := reads("get_generation", "Read a generation", d)
	if files {
		tool.Description += " With save the images are saved as new files in the server's directory."
		tool.Annotations = &mcp.ToolAnnotations{DestructiveHint: new(bool)}
	}
	return tool
}

// reads declares a tool that changes nothing, so that clients may call it without asking their user.
func reads(name, title, description string) *mcp.Tool {
	return &mcp.Tool{Name: name, Title: title, Description: description,
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}}
}

// add declares a tool, with the error of each call as explain puts it. The SDK makes that error a result
// which the model sees.
func add[In, Out any](server *mcp.Server, t *tools, tool *mcp.Tool,
	call func(context.Context, *mcp.CallToolRequest, In) (*mcp.CallToolResult, Out, error)) {
	tool.InputSchema, tool.OutputSchema = schemaOf[In](), schemaOf[Out]()
	t.takes[tool.Name] = slices.Sorted(maps.Keys(schemaOf[In]().Properties))
	mcp.AddTool(server, tool, func(ctx context.Context, r *mcp.CallToolRequest, in In) (*mcp.CallToolResult, Out,
		error) {
		result, out, err := call(ctx, r, in)
		if err != nil {
			err = t.explain(ctx, err)
		}
		return result, out, err
	})
}

// nothing is the input of a tool that takes none.
type nothing struct{}

// models is the result of list_models: what an agent needs to choose a model and to know what it may ask
// for. Formats, masks and seeds are left out, since no tool takes them.
type models struct {
	Models []model `json:"models"`
}

type model struct {
	ID            string                             `json:"id" jsonschema:"what model is called in other tools"`
	Provider      string                             `json:"provider"`
	Credits       map[imagegen.Tier]imagegen.Credits `json:"credits" jsonschema:"price of one image by resolution tier, at quality auto and without references"`
	Varies        bool                               `json:"price_varies,omitempty" jsonschema:"the price depends on more of the request: ask quote"`
	Ratios        []imagegen.Ratio                   `json:"aspect_ratios"`
	MaxImages     int                                `json:"max_images"`
	MaxReferences int                                `json:"max_references"`
	MaxPrompt     int                                `json:"max_prompt_length"`
}

func (t *tools) listModels(ctx context.Context, _ *mcp.CallToolRequest,
	_ nothing) (*mcp.CallToolResult, models, error) {
	infos, err := t.Models(ctx)
	out := models{make([]model, len(infos))}
	for i, m := range infos { // a list that is nil would be null in JSON
		out.Models[i] = model{m.ID, m.Provider, m.Credits, m.PriceVaries || len(m.Prices) > 0 || m.ReferenceCredits > 0,
			append([]imagegen.Ratio{}, m.Ratios...), m.MaxImages,
			m.MaxReferences, m.MaxPrompt}
	}
	return nil, out, err
}

// balance is the result of get_balance. Credits that never expire leave the last two fields out.
type balance struct {
	Credits     imagegen.Credits `json:"credits"`
	AccountType string           `json:"account_type"`
	Expiring    imagegen.Credits `json:"expiring_credits,omitempty" jsonschema:"credits that expire first"`
	ExpiresAt   string           `json:"expires_at,omitempty" jsonschema:"when they do"`
}

func (t *tools) getBalance(ctx context.Context, _ *mcp.CallToolRequest,
	_ nothing) (*mcp.CallToolResult, balance, error) {
	b, err := t.Balance(ctx)
	out := balance{Credits: b.Credits, AccountType: b.AccountType}
	if e := b.NextExpiration; e != nil {
		out.Expiring, out.ExpiresAt = e.Credits, stamp(e.At)
	}
	return nil, out, err
}

// query is the input of list_generations. The service checks it.
type query struct {
	Limit  int    `json:"limit,omitempty" jsonschema:"how many, 1 to 100; 20 if absent"`
	After  string `json:"after,omitempty" jsonschema:"next of the list before"`
	Status string `json:"status,omitempty" jsonschema:"only those of one status: queued, processing, succeeded or failed"`
}

// page is the result of list_generations: Next is the After of the next page.
type page struct {
	Generations []generation `json:"generations"`
	Next        string       `json:"next,omitempty" jsonschema:"there are more: after of the next list"`
}

// listGenerations reads the list in pieces, so that few whole prompts are in memory at the same time.
func (t *tools) listGenerations(ctx context.Context, _ *mcp.CallToolRequest,
	q query) (*mcp.CallToolResult, page, error) {
	next := imagegen.Query{Limit: q.Limit, After: imagegen.GenerationID(q.After), Status: imagegen.Status(q.Status)}
	out := page{Generations: []generation{}}
	for left := cmp.Or(q.Limit, imagegen.DefaultPageSize); ; {
		if left <= imagegen.MaxPageSize { // else the service refuses it
			next.Limit = min(left, listPiece)
		}
		p, err := t.Generations(ctx, next)
		if err != nil {
			return nil, page{}, err
		}
		for _, g := range p.Generations {
			listed := t.tell(g)
			listed.Prompt = beginning(g.Prompt)
			out.Generations = append(out.Generations, listed)
		}
		next.After = p.Next
		if left -= len(p.Generations); left <= 0 || p.Next == "" {
			out.Next = string(p.Next)
			return nil, out, nil
		}
	}
}

// listPiece is how many generations are read at once.
const listPiece = 10

// listedPrompt is how many characters of a prompt a list shows. A hundred of the longest prompts would be
// an answer of some 30 MB, which takes several times that in memory while it is encoded.
const listedPrompt = 200

// beginning returns a prompt as a list shows it.
func beginning(prompt string) string {
	n := 0
	for i := range prompt {
		if n++; n > listedPrompt {
			return prompt[:i] + "…"
		}
	}
	return prompt
}
