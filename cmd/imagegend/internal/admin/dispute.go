package admin

import (
	"context"
	"errors"
	"fmt"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

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
	Generation string `json:"generation"`
	Refund     bool   `json:"refund"`  // return everything; otherwise spend what the images cost
	ByHand     bool   `json:"by_hand"` // the ledger's books were corrected already: do not ask it
}

// disputesPage is how many disputes are read at once. All of them are listed; the page bounds one read of the store.
const disputesPage = 100

// Disputes implements Service.
func (l *Local) Disputes(ctx context.Context) ([]Dispute, error) {
	all := []Dispute{}
	var after imagegen.GenerationID
	for {
		records, _, err := l.Engine.Disputed(ctx, after, disputesPage)
		if err != nil {
			return nil, words(err)
		}
		for _, r := range records {
			all = append(all, l.viewDispute(ctx, r))
		}
		if len(records) < disputesPage {
			return all, nil
		}
		after = records[len(records)-1].ID
	}
}

// Resolve implements Service. A Resolve that failed can be repeated. If the ledger refuses, nothing has changed, and
// the error says how to go on: correct the ledger's own books, then resolve by hand.
func (l *Local) Resolve(ctx context.Context, how Resolution) (Dispute, error) {
	r, err := l.Engine.Resolve(ctx, imagegen.GenerationID(how.Generation), engine.Resolution{Refund: how.Refund, ByHand: how.ByHand})
	switch {
	case errors.Is(err, imagegen.ErrNotFound) && r.ID == "":
		return Dispute{}, refusal("there is no generation %q", how.Generation)
	case err != nil && r.Dispute != "" && !how.ByHand:
		return Dispute{}, fmt.Errorf("%w; nothing was changed; put the ledger right, then resolve with --by-hand", words(err))
	case err != nil:
		return Dispute{}, words(err)
	}
	return l.viewDispute(ctx, r), nil
}

// viewDispute shows a dispute. It looks the owner up, which is a read of its own.
func (l *Local) viewDispute(ctx context.Context, r imagegen.Record) Dispute {
	return Dispute{ID: r.ID, User: l.ownerOf(ctx, r), Charged: r.Charge().Credits, Used: r.Used(), CompletedAt: Time{r.CompletedAt}, Dispute: r.Dispute}
}

// ownerOf returns the name of the owner of a generation, or their identifier if no such user is known here.
func (l *Local) ownerOf(ctx context.Context, r imagegen.Record) string {
	if u, err := l.Engine.Accounts().User(ctx, r.User); err == nil {
		return u.Name
	}
	return string(r.User)
}
