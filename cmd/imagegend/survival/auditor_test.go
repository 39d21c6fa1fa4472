package survival_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"image/png"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// auditor stands outside the daemon, keeps the answers that its clients got, and compares. It is safe for
// concurrent use.
type auditor struct {
	signals atomic.Int64 // by which the daemon was made to stand still, and to go on

	mu       sync.Mutex
	facts    map[string]fact // by generation
	fresh    []string        // answered since the last comparison
	refused  map[string]bool // prompts of requests that were refused: none of them may be recorded
	outcomes map[string]int  // how often each kind of answer came
	wrong    []string
	diary    *diary
	tb       testing.TB
}

// fact is the last answer about a generation.
type fact struct {
	key string // whose it is
	daemontest.Generation
}

func newAuditor(t *testing.T) *auditor {
	return &auditor{diary: newDiary(t), tb: t, facts: map[string]fact{}, refused: map[string]bool{},
		outcomes: map[string]int{}}
}

// count counts an answer of a kind.
func (a *auditor) count(outcome string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.outcomes[outcome]++
}

// longest keeps the longest of some times, in whole seconds.
func (a *auditor) longest(what string, took time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.outcomes[what] = max(a.outcomes[what], int(took.Seconds()))
}

func (a *auditor) counted(outcome string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.outcomes[outcome]
}

// violated keeps what is wrong.
func (a *auditor) violated(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.wrong = append(a.wrong, fmt.Sprintf(format, args...))
}

// refuse keeps that a request with this prompt was refused.
func (a *auditor) refuse(prompt string) {
	a.diary.note(a.tb, map[string]string{"refused": prompt})
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refused[prompt] = true
}

// hear keeps an answer about a generation, and compares it to the one before.
func (a *auditor) hear(key string, g daemontest.Generation) {
	a.diary.note(a.tb, g)
	a.mu.Lock()
	defer a.mu.Unlock()
	before, known := a.facts[g.ID]
	if known {
		if diff := contradiction(before.Generation, g); diff != "" {
			a.wrong = append(a.wrong,
				fmt.Sprintf("generation %s was %s, and the answer has changed (-before +now):\n%s", g.ID, before.Status,
					diff))
		}
	}
	if !known || !before.Ended() || before.Fields == nil {
		a.facts[g.ID] = fact{key, g}
		a.fresh = append(a.fresh, g.ID)
	}
}

// rank orders the states: a status never goes backwards.
var rank = map[string]int{"queued": 1, "processing": 2, "succeeded": 3, "failed": 3}

// contradiction compares an earlier answer to a later one. What had ended stays as it was; the rest
// goes on. Some answers had only the status.
func contradiction(before, now daemontest.Generation) string {
	if before.Fields == nil {
		return cmp.Diff(before.Status, now.Status)
	}
	if before.Ended() {
		return cmp.Diff(before.Fields, now.Fields)
	}
	if rank[now.Status] < rank[before.Status] {
		return before.Status + " → " + now.Status
	}
	lasting := func(fields map[string]any) map[string]any {
		fields = maps.Clone(fields)
		maps.DeleteFunc(fields, func(name string, _ any) bool {
			return slices.Contains([]string{"status", "completed_at", "images", "usage", "error"}, name)
		})
		return fields
	}
	return cmp.Diff(lasting(before.Fields), lasting(now.Fields))
}

// compareFresh asks the daemon again for the generations of all answers since the last time.
func (a *auditor) compareFresh(ctx context.Context, d *daemontest.Daemon) {
	a.mu.Lock()
	ids := slices.Compact(slices.Sorted(slices.Values(a.fresh)))
	a.fresh = nil
	a.mu.Unlock()
	a.compare(ctx, d, ids)
}

// compareAll asks the daemon again for the generations of all answers.
func (a *auditor) compareAll(ctx context.Context, d *daemontest.Daemon) {
	a.mu.Lock()
	ids := slices.Collect(maps.Keys(a.facts))
	a.mu.Unlock()
	a.compare(ctx, d, ids)
}

func (a *auditor) compare(ctx context.Context, d *daemontest.Daemon, ids []string) {
	const askers = 8
	var wg sync.WaitGroup
	defer wg.Wait()
	for i := range askers {
		wg.Go(func() {
			for j := i; j < len(ids); j += askers {
				if err := a.compareOne(ctx, d, ids[j]); err != nil {
					a.violated("generation %s: %v", ids[j], err)
				}
			}
		})
	}
}

func (a *auditor) compareOne(ctx context.Context, d *daemontest.Daemon, id string) error {
	a.mu.Lock()
	f := a.facts[id]
	a.mu.Unlock()
	now, err := d.Generation(ctx, f.key, id)
	if err != nil {
		return err
	}
	a.hear(f.key, now)
	paid := len(now.Images)
	if now.Status != "succeeded" { // images before the end are charged at the end
		paid = 0
	}
	if now.Usage.Credits != paid {
		return fmt.Errorf("%d images for %d credits", len(now.Images), now.Usage.Credits)
	}
	for _, i := range now.Images {
		if err := checkImage(ctx, d, i.URL, i.Width, i.Height); err != nil {
			return fmt.Errorf("image %s: %w", i.URL, err)
		}
	}
	return nil
}

// checkImage reads an image: it decodes, has the size of the answer, and its ETag is its SHA-256.
func checkImage(ctx context.Context, d *daemontest.Daemon, address string, width, height int) error {
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	answer, err := d.Do(ctx, daemontest.Request{Path: u.Path})
	if err != nil {
		return err
	}
	if answer.Status != http.StatusOK {
		return fmt.Errorf("status %d: %s", answer.Status, answer.Body)
	}
	if want, got := fmt.Sprintf("%q", fmt.Sprintf("%x", sha256.Sum256(answer.Body))),
		answer.Header.Get("ETag"); got != want {
		return fmt.Errorf("the ETag is %s, the SHA-256 %s", got, want)
	}
	picture, err := png.Decode(bytes.NewReader(answer.Body))
	if err != nil {
		return err
	}
	if size := picture.Bounds().Size(); size.X != width || size.Y != height {
		return fmt.Errorf("it has %v pixels, the answer said %d×%d", size, width, height)
	}
	return nil
}
