package wire

import "github.com/imagegend/imagegend/imagegen"

// QuoteRequest is a request for a price: one for images, with the number of its references in place of
// the files.
type QuoteRequest struct {
	Request
	ReferenceCount int `json:"reference_count,omitempty"`
}

// NewQuoteRequest converts.
func NewQuoteRequest(q imagegen.GenerateRequest) QuoteRequest {
	return QuoteRequest{NewRequest(q), len(q.References)}
}

// Quote is what a request would be made as, and cost.
type Quote struct {
	Object      string           `json:"object"`
	Model       string           `json:"model"`
	AspectRatio imagegen.Ratio   `json:"aspect_ratio"`
	Quality     imagegen.Tier    `json:"quality"`
	N           int              `json:"n"`
	Credits     imagegen.Credits `json:"credits"`
	Balance     Balance          `json:"balance"`
}

// NewQuote converts.
func NewQuote(q imagegen.Quote) Quote {
	return Quote{Object: "quote", Model: q.Model, AspectRatio: q.Ratio, Quality: q.Tier, N: q.N, Credits: q.Credits, Balance: *NewBalance(q.Balance)}
}

// Value converts back. The price of one image is not in the body; it follows from that of all.
func (w Quote) Value() imagegen.Quote {
	return imagegen.Quote{Model: w.Model, Ratio: w.AspectRatio, Tier: w.Quality, N: w.N, Price: w.Credits / imagegen.Credits(max(1, w.N)),
		Credits: w.Credits, Balance: w.Balance.Value()}
}

// Check implements Body.
func (w Quote) Check() error { return is(w.Object, "quote") }
