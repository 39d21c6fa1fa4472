package daemontest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"testing"
)

// Generation is a generation as answers show it, as far as tests look at it.
type Generation struct {
	ID     string
	Status string
	Prompt string
	N      int
	Images []struct {
		URL           string
		Width, Height int
	}
	Usage struct {
		Credits          int
		CreditsRequested int `json:"credits_requested"`
	}
	Balance *struct{ Credits int }
	Error   *struct{ Code string }

	Fields map[string]any `json:"-"` // the whole answer but the balance, which later answers do not repeat
}

// UnmarshalJSON fills Fields too.
func (g *Generation) UnmarshalJSON(b []byte) error {
	type plain Generation
	if err := json.Unmarshal(b, (*plain)(g)); err != nil {
		return err
	}
	// Unmarshal would add to the fields of an earlier answer.
	g.Fields = nil
	err := json.Unmarshal(b, &g.Fields)
	delete(g.Fields, "balance")
	return err
}

// Ended reports whether its status is final.
func (g Generation) Ended() bool { return g.Status == "succeeded" || g.Status == "failed" }

// Fetch reads a JSON answer of status 200 into v.
func (d *Daemon) Fetch(ctx context.Context, r Request, v any) error {
	answer, err := d.Do(ctx, r)
	if err == nil && answer.Status != http.StatusOK {
		err = fmt.Errorf("%s: status %d: %s", r.Path, answer.Status, answer.Body)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(answer.Body, v)
}

// Generation reads one generation.
func (d *Daemon) Generation(ctx context.Context, key, id string) (g Generation, err error) {
	err = d.Fetch(ctx, Request{Path: "/api/v1/generations/" + id, Key: key}, &g)
	return g, err
}

// Generations reads all generations of an account, page by page, newest first; status "" means any.
func (d *Daemon) Generations(ctx context.Context, key, status string) (all []Generation, err error) {
	type page struct {
		Data       []Generation
		HasMore    bool   `json:"has_more"`
		NextCursor string `json:"next_cursor"`
	}
	q := url.Values{"limit": {"100"}}
	if status != "" {
		q.Set("status", status)
	}
	for more := true; more; {
		var p page
		if err := d.Fetch(ctx, Request{Path: "/api/v1/generations?" + q.Encode(), Key: key}, &p); err != nil {
			return nil, err
		}
		all, more = append(all, p.Data...), p.HasMore
		q.Set("after", p.NextCursor)
	}
	return all, nil
}

// Balance reads the credits of an account.
func (d *Daemon) Balance(ctx context.Context, key string) (int, error) {
	var body struct{ Balance struct{ Credits int } }
	err := d.Fetch(ctx, Request{Path: "/api/v1/credits", Key: key}, &body)
	return body.Balance.Credits, err
}

// MustGeneration is Generation, but fails the test instead of returning an error.
func (d *Daemon) MustGeneration(tb testing.TB, key, id string) Generation {
	tb.Helper()
	g, err := d.Generation(tb.Context(), key, id)
	return must(tb, g, err)
}

// MustGenerations is Generations, but fails the test instead of returning an error.
func (d *Daemon) MustGenerations(tb testing.TB, key, status string) []Generation {
	tb.Helper()
	all, err := d.Generations(tb.Context(), key, status)
	return must(tb, all, err)
}

// MustBalance is Balance, but fails the test instead of returning an error.
func (d *Daemon) MustBalance(tb testing.TB, key string) int {
	tb.Helper()
	credits, err := d.Balance(tb.Context(), key)
	return must(tb, credits, err)
}

// must returns v, or fails the test if err is not nil.
func must[T any](tb testing.TB, v T, err error) T {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
	return v
}
