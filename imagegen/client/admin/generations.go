package admin

import (
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

var (
	// ListGenerations lists the newest generations, without prompts.
	ListGenerations = Call[GenerationQuery, []GenerationLine]{Name: "generations", Scope: account.ScopeRead}
	// GetGeneration shows a generation with its prompt, and the audit trail notes that.
	GetGeneration = Call[imagegen.GenerationID, Generation]{Name: "generation", Scope: account.ScopeData}
	// EraseGeneration removes prompt and images of a generation that has ended, for good.
	EraseGeneration = Call[imagegen.GenerationID, None]{Name: "erase-generation", Scope: account.ScopeData}
	// ListDisputes lists the generations whose charge the ledger refuses to close, oldest first.
	ListDisputes = Call[None, []Dispute]{Name: "disputes", Scope: account.ScopeRead}
	// ResolveDispute ends the dispute about one. If it fails, nothing has changed, and it can be repeated.
	ResolveDispute = Call[Resolution, Dispute]{Name: "resolve-dispute", Scope: account.ScopeData}
)

// GenerationQuery selects the newest generations: of one user, or of all for "", in one status, or in any for "".
type GenerationQuery struct {
	User   string          `json:"user"`
	Status imagegen.Status `json:"status"`
	Limit  int             `json:"limit"` // at least 1
}

// GenerationLine is one line of a listing. It has no prompt: reading one is an act of its own, which the audit trail
// records.
type GenerationLine struct {
	ID               imagegen.GenerationID `json:"id"`
	User             string                `json:"user"`
	Status           imagegen.Status       `json:"status"`
	Model            string                `json:"model"`
	N                int                   `json:"n"`
	Images           int                   `json:"images"`
	Credits          imagegen.Credits      `json:"credits"`
	CreditsRequested imagegen.Credits      `json:"credits_requested"`
	CreatedAt        Time                  `json:"created_at"`
	CompletedAt      Time                  `json:"completed_at"`
}

// Generation is everything about a generation that an operator may want to know, its prompt included.
type Generation struct {
	ID imagegen.GenerationID `json:"id"`
	// Name of the owner, or their identifier if there is no such user.
	User string `json:"user"`
	// What the owner sees, and the state of the record behind it.
	Status imagegen.Status `json:"status"`
	State  imagegen.State  `json:"state"`
	Model  string          `json:"model"`
	Prompt string          `json:"prompt"`
	N      int             `json:"n"`
	// What was asked for: size and quality; then what the policy made of it: ratio and tier, which decides the price.
	Size             string           `json:"size"`
	RequestedQuality imagegen.Quality `json:"requested_quality"`
	AspectRatio      imagegen.Ratio   `json:"aspect_ratio"`
	Quality          imagegen.Tier    `json:"quality"`
	Async            bool             `json:"async"`
	ReferenceCount   int              `json:"reference_count"`
	// What was spent, 0 until the end, and what was charged at acceptance.
	Credits          imagegen.Credits `json:"credits"`
	CreditsRequested imagegen.Credits `json:"credits_requested"`
	// The number of the present attempt, which a restart raises too, and how many attempts have failed.
	Attempt  int    `json:"attempt"`
	Failures int    `json:"failures"`
	Failure  string `json:"failure"` // what the provider said; empty unless it failed
	// Why the ledger refuses to close the charge; empty unless it does.
	Dispute     string  `json:"dispute"`
	Refunded    bool    `json:"refunded"` // an operator gave back what the images cost
	CreatedAt   Time    `json:"created_at"`
	CompletedAt Time    `json:"completed_at"`
	Images      []Image `json:"images"`
}

// Image is one stored image.
type Image struct {
	ID          imagegen.ImageID `json:"id"`
	Width       int              `json:"width"`
	Height      int              `json:"height"`
	ContentType string           `json:"content_type"`
	Bytes       int64            `json:"bytes"`
	// Of the file's statement of its origin: kept, rewritten, none; empty if the image was stored before this was
	// noted.
	Provenance imagegen.Provenance `json:"provenance"`
}

// Dispute is a generation whose charge the ledger refuses to close.
type Dispute struct {
	ID imagegen.GenerationID `json:"id"`
	// Name of the owner, or their identifier if there is no such user.
	User        string           `json:"user"`
	Charged     imagegen.Credits `json:"charged"`
	Used        imagegen.Credits `json:"used"` // what the images cost
	CompletedAt Time             `json:"completed_at"`
	// What the ledger said; empty once it is resolved.
	Dispute string `json:"dispute"`
}

// Resolution is how an operator ends a dispute.
type Resolution struct {
	Generation imagegen.GenerationID `json:"generation"`
	Refund     bool                  `json:"refund"`  // return everything; otherwise spend what the images cost
	ByHand     bool                  `json:"by_hand"` // the ledger's books were corrected already: do not ask it
}
