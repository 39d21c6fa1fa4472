package survival_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// generation is what a client is told of one, as far as these tests look into it.
type generation struct {
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

	fields map[string]any // all that was told, but the balance
}

// UnmarshalJSON keeps the fields as well.
func (g *generation) UnmarshalJSON(b []byte) error {
	type plain generation
	if err := json.Unmarshal(b, (*plain)(g)); err != nil {
		return err
	}
	g.fields = nil
	err := json.Unmarshal(b, &g.fields)
	delete(g.fields, "balance")
	return err
}

func (g generation) ended() bool { return g.Status == "succeeded" || g.Status == "failed" }

func get(key, path string) daemontest.Request {
	return daemontest.Request{Method: http.MethodGet, Path: path, Key: key}
}

func getGeneration(key, id string) daemontest.Request { return get(key, "/api/v1/generations/"+id) }

func mustGeneration(t *testing.T, d *daemontest.Daemon, key, id string) (g generation) {
	t.Helper()
	if err := fetch(t.Context(), d, getGeneration(key, id), &g); err != nil {
		t.Fatal(err)
	}
	return g
}

// fetch reads a JSON answer of status 200 into v.
func fetch(ctx context.Context, d *daemontest.Daemon, r daemontest.Request, v any) error {
	answer, err := d.Do(ctx, r)
	if err == nil && answer.Status != http.StatusOK {
		err = fmt.Errorf("%s: status %d: %s", r.Path, answer.Status, answer.Body)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(answer.Body, v)
}

func balance(ctx context.Context, d *daemontest.Daemon, key string) (int, error) {
	var body struct{ Balance struct{ Credits int } }
	err := fetch(ctx, d, get(key, "/api/v1/credits"), &body)
	return body.Balance.Credits, err
}

func mustBalance(t *testing.T, d *daemontest.Daemon, key string) int {
	t.Helper()
	credits, err := balance(t.Context(), d, key)
	if err != nil {
		t.Fatal(err)
	}
	return credits
}

// list pages through an account's generations; status "" means all.
func list(ctx context.Context, d *daemontest.Daemon, key, status string) (all []generation, err error) {
	type page struct {
		Data       []generation
		HasMore    bool   `json:"has_more"`
		NextCursor string `json:"next_cursor"`
	}
	for more, after := true, ""; more; {
		var p page
		q := url.Values{"limit": {"100"}}
		if after != "" {
			q.Set("after", after)
		}
		if status != "" {
			q.Set("status", status)
		}
		if err := fetch(ctx, d, get(key, "/api/v1/generations?"+q.Encode()), &p); err != nil {
			return nil, err
		}
		all, more, after = append(all, p.Data...), p.HasMore, p.NextCursor
	}
	return all, nil
}

func mustList(t *testing.T, d *daemontest.Daemon, key, status string) []generation {
	t.Helper()
	all, err := list(t.Context(), d, key, status)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// eventually polls until the condition holds.
func eventually(t *testing.T, limit time.Duration, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(limit)
	poll := time.NewTicker(5 * time.Millisecond)
	defer poll.Stop()
	for !holds() {
		select {
		case <-deadline:
			t.Fatalf("after %s still not: %s", limit, what)
		case <-poll.C:
		}
	}
}

// allEnded waits until none of an account's generations is under way.
func allEnded(t *testing.T, d *daemontest.Daemon, key string, limit time.Duration) {
	t.Helper()
	eventually(t, limit, "every generation has ended", func() bool {
		return len(mustList(t, d, key, "queued"))+len(mustList(t, d, key, "processing")) == 0
	})
}

// clean fails the test unless the daemon's own audit finds nothing.
func clean(t *testing.T, d *daemontest.Daemon) {
	t.Helper()
	if stdout, stderr, status := d.Command("audit"); status != 0 {
		t.Errorf("imagegend audit: exit status %d\n%s%s", status, stdout, stderr)
	}
}

// settled fails the test unless credits that are gone from a balance and credits of images that
// are there are the same. Nothing may be under way.
func settled(t *testing.T, d *daemontest.Daemon, key string, granted int) {
	t.Helper()
	var used int
	for _, g := range mustList(t, d, key, "") {
		used += g.Usage.Credits
		if g.Usage.Credits != len(g.Images) || !g.ended() {
			t.Errorf("generation %s is %s with %d images for %d credits", g.ID, g.Status, len(g.Images), g.Usage.Credits)
		}
	}
	if left := mustBalance(t, d, key); granted-left != used {
		t.Errorf("of %d credits %d are left, but the generations cost %d", granted, left, used)
	}
}
