package wire

import "github.com/imagegend/imagegend/imagegen"

// QuoteRequest is a request for a price: one for images, with the number of its references in place of
// the files, and whether there is a mask.
type QuoteRequest struct {
	Request
	ReferenceCount int  `json:"reference_count,omitempty"`
	Mask           bool `json:"mask,omitempty"`
}

// NewQuoteRequest converts.
func NewQuoteRequest(q imagegen.GenerateRequest) QuoteRequest {
	return QuoteRequest{NewRequest(q), len(q.References), q.Mask != nil}
}

// Quote is what a request would be made as, and cost.
type Quote struct {
	Object      string           `json:"object"`
	Model       string           `json:"model"`
	AspectRatio imagegen.Ratio   `json:"aspect_ratio"`
	Quality     imagegen.Tier    `json:"quality"`
	Effort      imagegen.Quality `json:"effort"`
	N           int              `json:"n"`
	Price       imagegen.Credits `json:"price"`
	Credits     imagegen.Credits `json:"credits"`
	Balance     Balance          `json:"balance"`

	ReferenceCredits imagegen.Credits `json:"reference_credits,omitempty"`
}

// NewQuote converts.
func NewQuote(q imagegen.Quote) Quote {
	return Quote{Object: "quote", Model: q.Model, AspectRatio: q.Ratio, Quality: q.Tier, Effort: q.Effort, N: q.N,
		Price: q.Price, Credits: q.Credits, ReferenceCredits: q.ReferenceCredits, Balance: *NewBalance(q.Balance)}
}

// Value converts back.
func (w Quote) Value() imagegen.Quote {
	return imagegen.Quote{Model: w.Model, Ratio: w.AspectRatio, Tier: w.Quality, Effort: w.Effort, N: w.N,
		Price: w.Price, ReferenceCredits: w.ReferenceCredits, Credits: w.Credits, Balance: w.Balance.Value()}
}

// Check implements Body.
func (w Quote) Check() error { return is(w.Object, "quote") }
