package admin

import (
	"context"
	"slices"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
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

// Generations implements Service. The store lists the generations of one user at a time. So the newest of all users
// are found by merging the newest of each: up to users × limit records are read, and at most twice the limit are held
// in memory.
func (l *Local) Generations(ctx context.Context, q GenerationQuery) (newest []GenerationLine, err error) {
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
		slices.SortFunc(newest, func(a, b GenerationLine) int { return strings.Compare(string(b.ID), string(a.ID)) })
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
func (l *Local) newestOf(ctx context.Context, u imagegen.User, q GenerationQuery) (lines []GenerationLine, err error) {
	page := imagegen.Page{}
	for more := true; more && len(lines) < q.Limit; more = page.Next != "" {
		next := imagegen.Query{Status: q.Status, After: page.Next, Limit: min(q.Limit-len(lines), imagegen.MaxPageSize)}
		if page, err = l.Engine.As(u.ID).Generations(ctx, next); err != nil {
			return nil, err
		}
		for _, g := range page.Generations {
			lines = append(lines, GenerationLine{ID: g.ID, User: u.Name, Status: g.Status, Model: g.Model, N: g.N, Images: len(g.Images),
				Credits: g.Credits, CreditsRequested: g.CreditsRequested, CreatedAt: Time{g.CreatedAt}, CompletedAt: Time{g.CompletedAt}})
		}
	}
	return lines, nil
}
