package adminserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/client/admin"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// listGenerations merges the newest of each user, since the store lists the generations of one user at a time: up to
// users × limit records are read, and at most twice the limit are held in memory.
func (l *Local) listGenerations(ctx context.Context, q admin.GenerationQuery) (newest []admin.GenerationLine,
	err error) {
	if err := checkLimit(q.Limit); err != nil {
		return nil, err
	}
	users, err := l.asked(ctx, q.User)
	if err != nil {
		return nil, err
	}
	for _, u := range users {
		own, err := l.newestOf(ctx, u, q)
		if err != nil {
			return nil, words(err)
		}
		newest = append(newest, own...)
		// An identifier begins with its time.
		slices.SortFunc(newest, func(a, b admin.GenerationLine) int {
			return strings.Compare(string(b.ID), string(a.ID))
		})
		newest = newest[:min(len(newest), q.Limit)]
	}
	return listed(newest), nil
}

// asked returns the users that a query is about: the one with the name, or all for "".
func (l *Local) asked(ctx context.Context, name string) ([]imagegen.User, error) {
	if name == "" {
		all, err := l.Engine.Accounts().Users(ctx)
		return all, words(err)
	}
	u, err := l.user(ctx, name)
	return []imagegen.User{u}, err
}

// newestOf reads up to q.Limit of a user's generations, newest first, page by page: one page holds MaxPageSize at
// most.
func (l *Local) newestOf(ctx context.Context, u imagegen.User, q admin.GenerationQuery) (lines []admin.GenerationLine,
	err error) {
	page := imagegen.Page{}
	for more := true; more && len(lines) < q.Limit; more = page.Next != "" {
		next := imagegen.Query{Status: q.Status, After: page.Next, Limit: min(q.Limit-len(lines), imagegen.MaxPageSize)}
		if page, err = l.Engine.As(u.ID).Generations(ctx, next); err != nil {
			return nil, err
		}
		for _, g := range page.Generations {
			lines = append(lines, admin.GenerationLine{ID: g.ID, User: u.Name, Status: g.Status, Model: g.Model, N: g.N,
				Images: len(g.Images), Credits: g.Credits, CreditsRequested: g.CreditsRequested,
				CreatedAt: at(g.CreatedAt), CompletedAt: at(g.CompletedAt)})
		}
	}
	return lines, nil
}

// getGeneration does not show the prompt if the audit trail cannot record that somebody looks.
func (l *Local) getGeneration(ctx context.Context, id imagegen.GenerationID) (admin.Generation, error) {
	r, err := l.Engine.Record(ctx, id)
	if err != nil {
		return admin.Generation{}, generationWords(id, err)
	}
	seen := account.TrailRow{Act: account.ActGenerationView, Target: string(id), User: r.User,
		Outcome: account.TrailDone}
	if err := l.noteAct(ctx, seen); err != nil {
		return admin.Generation{}, err
	}
	return viewGeneration(r, l.ownerOf(ctx, r)), nil
}

// viewGeneration shows a record to an operator. Credits is 0 until the generation has ended: until then nothing is
// spent.
func viewGeneration(r imagegen.Record, user string) admin.Generation {
	g := admin.Generation{ID: r.ID, User: user, Status: r.Status(), State: r.State, Model: r.Model, Prompt: r.Prompt,
		N: r.N, Size: r.Size.String(), RequestedQuality: r.Intent.Quality, AspectRatio: r.Ratio, Quality: r.Tier,
		Async: r.Async, ReferenceCount: len(r.ReferenceImages()), CreditsRequested: r.Charge().Credits,
		Attempt: r.Attempt, Failures: r.Failures, Dispute: r.Dispute, Refunded: r.Refunded, CreatedAt: at(r.CreatedAt),
		CompletedAt: at(r.CompletedAt), Images: []admin.Image{}}
	if r.Terminal() {
		g.Credits = r.Used()
	}
	if r.Failure != nil {
		g.Failure = r.Failure.Class.String() + ": " + r.Failure.Detail
	}
	for _, i := range r.Images {
		g.Images = append(g.Images, admin.Image{ID: i.ID, Width: i.Width, Height: i.Height, ContentType: i.MediaType,
			Bytes: i.Size, Provenance: i.Provenance})
	}
	return g
}

func (l *Local) eraseGeneration(ctx context.Context, id imagegen.GenerationID) (admin.None, error) {
	return admin.None{}, generationWords(id, l.Engine.Erase(ctx, id))
}

// generationWords explains a missing generation. Nothing distinguishes one that was erased from one that never was.
func generationWords(id imagegen.GenerationID, err error) error {
	return missing(err, "there is no generation %q; it may have been erased", id)
}

// disputesPage is how many disputes are read at once. All of them are listed; the page bounds one read of the store.
const disputesPage = 100

func (l *Local) listDisputes(ctx context.Context, _ admin.None) ([]admin.Dispute, error) {
	all := []admin.Dispute{}
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

// resolveDispute says how to go on if the ledger refuses: correct the ledger's own books, then resolve by hand.
func (l *Local) resolveDispute(ctx context.Context, how admin.Resolution) (admin.Dispute, error) {
	r, err := l.Engine.Resolve(ctx, how.Generation, engine.Resolution{Refund: how.Refund, ByHand: how.ByHand})
	switch {
	case errors.Is(err, imagegen.ErrNotFound) && r.ID == "":
		return admin.Dispute{}, refusal("there is no generation %q", how.Generation)
	case err != nil && r.Dispute != "" && !how.ByHand:
		return admin.Dispute{}, fmt.Errorf("%w; nothing was changed; put the ledger right, then resolve with --by-hand",
			words(err))
	case err != nil:
		return admin.Dispute{}, words(err)
	}
	return l.viewDispute(ctx, r), nil
}

// viewDispute shows a dispute. It looks the owner up, which is a read of its own.
func (l *Local) viewDispute(ctx context.Context, r imagegen.Record) admin.Dispute {
	return admin.Dispute{ID: r.ID, User: l.ownerOf(ctx, r), Charged: r.Charge().Credits, Used: r.Used(),
		CompletedAt: at(r.CompletedAt), Dispute: r.Dispute}
}

// ownerOf returns the name of the owner of a generation, or their identifier if no such user is known here.
func (l *Local) ownerOf(ctx context.Context, r imagegen.Record) string {
	if u, err := l.Engine.Accounts().User(ctx, r.User); err == nil {
		return u.Name
	}
	return string(r.User)
}
