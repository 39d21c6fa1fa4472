package admin

import (
	"context"
	"slices"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
)

// GenerationQuery selects the newest generations: of one user, or "" of all; of one status, or "" of any.
type GenerationQuery struct {
	User   string          `json:"user"`
	Status imagegen.Status `json:"status"`
	Limit  int             `json:"limit"` // from 1
}

// GenerationLine is what a listing tells of a generation. Its prompt is not for a listing: who reads one
// stands in the audit trail.
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

// Generations implements Service.
func (l *Local) Generations(ctx context.Context, q GenerationQuery) (newest []GenerationLine, err error) {
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
		slices.SortFunc(newest, func(a, b GenerationLine) int { return strings.Compare(string(b.ID), string(a.ID)) }) // identifiers begin with the time
		newest = newest[:min(len(newest), q.Limit)]
	}
	return newest, nil
}

// asked are the users that a query is about.
func (l *Local) asked(ctx context.Context, name string) ([]imagegen.User, error) {
	if name == "" {
		all, err := l.Engine.Accounts().Users(ctx)
		return all, words(err)
	}
	u, err := l.user(ctx, name)
	return []imagegen.User{u}, err
}

// newestOf reads a user's generations page by page.
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
