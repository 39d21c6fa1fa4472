package mcpserver

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/imagegend/imagegend/imagegen"
)

// price is what images would cost, and as what they would be made.
type price struct {
	Credits imagegen.Credits `json:"credits" jsonschema:"of all images together"`
	Price   imagegen.Credits `json:"price" jsonschema:"of one image, references included"`
	Ratio   imagegen.Ratio   `json:"aspect_ratio"`
	Tier    imagegen.Tier    `json:"tier" jsonschema:"resolution: 1K, 2K or 4K"`
	Effort  imagegen.Quality `json:"effort" jsonschema:"quality that the provider is asked for"`
}

// quote checks and prices a request as generate_image would. Its errors are those that generate_image
// returns before the charge, except for files: a quote counts references and does not read them.
func (t *tools) quote(ctx context.Context, _ *mcp.CallToolRequest, w wanted) (*mcp.CallToolResult, price, error) {
	q, err := t.request(ctx, w)
	if err != nil {
		return nil, price{}, err
	}
	quote, err := t.Quote(ctx, q)
	return nil, price{Credits: quote.Credits, Price: quote.Price, Ratio: quote.Ratio, Tier: quote.Tier,
		Effort: quote.Effort}, err
}
