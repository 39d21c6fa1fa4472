package metrics_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/metrics"
)

// settle waits for the end of asynchronous work.
func (s *service) settle(u imagegen.UserID, id imagegen.GenerationID) {
	s.Helper()
	for limit := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		g, err := s.engine.As(u).Generation(s.Context(), id)
		s.is.NoErr(err)
		if g.Status.Terminal() {
			return
		}
		if time.Now().After(limit) {
			s.Fatalf("generation %s does not end", id)
		}
	}
}

// Credits charged minus credits refunded equal what the ledger was paid, however the work ended.
func TestCreditsEqualTheLedger(t *testing.T) {
	s := start(t)
	const granted = 1000
	s.grant("alice", granted)
	prompts := []string{"a fox", "[fake:images=1] a fox", "[fake:fail]", "[fake:refuse]", "[fake:transient=1] a fox",
		"[fake:corrupt]", "[fake:panic]"}
	images := 0.0
	for i, prompt := range prompts {
		for _, async := range []bool{false, true} {
			for _, m := range []string{"m", "pool"} {
				r, err := s.generate("alice", imagegen.GenerateRequest{Model: m, Prompt: prompt, N: 1 + i%3,
					Async: async})
				if err == nil && async {
					s.settle("alice", r.Generation.ID)
					r.Generation, err = s.engine.As("alice").Generation(t.Context(), r.Generation.ID)
					s.is.NoErr(err)
				}
				images += float64(len(r.Generation.Images))
			}
		}
	}
	_, err := s.generate("bob", imagegen.GenerateRequest{Model: "m", Prompt: "a fox"})
	s.is.True(err != nil) // who has no credits is charged nothing

	b, err := s.engine.As("alice").Balance(t.Context())
	s.is.NoErr(err)
	spent := float64(granted - b.Credits)
	s.is.True(spent > 0)
	s.is.Equal(spent, 3*images)
	for limit := time.Now().Add(time.Minute); s.sum("imagegend_generations_ended_total") < 28 &&
		time.Now().Before(limit); {
		time.Sleep(5 * time.Millisecond) // the event comes once it is durable
	}
	s.is.Equal(s.sum("imagegend_credits_charged_total")-s.sum("imagegend_credits_refunded_total"), spent)
	s.counts(28, "imagegend_generations_accepted_total")
	s.counts(28, "imagegend_generations_ended_total")
	s.counts(4, "imagegend_generations_ended_total", `class="refused"`)
	s.counts(images, "imagegend_images_total")
}

// A generation that its owner cancelled does not count as a failure; its credits came back.
func TestCancelled(t *testing.T) {
	s := start(t)
	s.grant("alice", 100)
	r, err := s.engine.As("alice").Generate(t.Context(), imagegen.GenerateRequest{Model: "m",
		Prompt: "[fake:transient=8] a fox", N: 2, Async: true})
	s.is.NoErr(err)
	for {
		_, err = s.engine.As("alice").Cancel(t.Context(), r.Generation.ID)
		if !errors.Is(err, imagegen.ErrNotCancellable) { // between two attempts it is
			break
		}
		time.Sleep(time.Millisecond)
	}
	s.is.NoErr(err)
	s.counts(1, "imagegend_generations_ended_total", `class="cancelled"`)
	s.counts(1, "imagegend_generations_ended_total")
	s.counts(s.sum("imagegend_credits_charged_total"), "imagegend_credits_refunded_total")
}

// Attempts are counted by the member that a router asked; where there is none, by the provider.
func TestAttempts(t *testing.T) {
	s := start(t)
	s.grant("alice", 100)
	for _, m := range []string{"m", "pool"} {
		_, err := s.generate("alice", imagegen.GenerateRequest{Model: m, Prompt: "a fox", IdempotencyKey: m})
		s.is.NoErr(err)
		_, err = s.generate("alice", imagegen.GenerateRequest{Model: m, Prompt: "a fox", IdempotencyKey: m})
		s.is.NoErr(err)
		_, err = s.generate("alice", imagegen.GenerateRequest{Model: m, Prompt: "[fake:refuse]"})
		s.is.True(err != nil)
	}
	for _, name := range []string{"imagegend_provider_attempts_total",
		"imagegend_provider_attempt_duration_seconds_count"} {
		s.counts(1, name, `model="m"`, `provider="fake"`, `member=""`, `class="ok"`)
		s.counts(1, name, `model="m"`, `class="refused"`)
		s.counts(1, name, `model="pool"`, `member="first"`, `class="ok"`)
		s.counts(4, name)
	}
	s.counts(0.04, "imagegend_upstream_cost_total", `model="m"`, `provider="fake"`)
	s.counts(1, "imagegend_upstream_cost_unknown_total", `model="m"`) // the refused one
	s.counts(2, "imagegend_upstream_cost_unknown_total", `model="pool"`)
	s.counts(2, "imagegend_replays_total")
	s.counts(4, "imagegend_slot_wait_seconds_count")
}

// Values that a caller can choose make no series.
func TestCallersMakeNoSeries(t *testing.T) {
	s := start(t)
	s.grant("alice", 100)
	u, err := s.engine.Accounts().CreateUser(t.Context(), "alice", "")
	s.is.NoErr(err)
	key, _, err := s.engine.Accounts().MintKey(t.Context(), u.ID, "k", time.Time{})
	s.is.NoErr(err)
	bearer := "Bearer " + key.Reveal()
	some := func(word string) {
		s.ask(http.MethodGet, "/"+word, "")
		s.ask(http.MethodGet, "/api/v1/generations/"+word, "", "Authorization", bearer)
		s.ask(http.MethodGet, "/images/"+word, "")
		s.ask(word, "/api/v1/models", "")
		s.ask(http.MethodGet, "/api/v1/credits?"+word, "", "Authorization", "Bearer "+word)
		s.ask(http.MethodPost, "/api/v1/images/generations", fmt.Sprintf(`{"model": %q, "prompt": %q}`, word, word),
			"Authorization", bearer, "Content-Type", "application/json", "X-Request-Id", word)
		s.generate(imagegen.UserID("user-"+word), imagegen.GenerateRequest{Model: word, Prompt: word})
		s.generate(imagegen.UserID("user-"+word), imagegen.GenerateRequest{Model: "m", Prompt: word})
	}
	some("first")
	before := series(s.scrape())
	for range 10_000 {
		some(fmt.Sprintf("w%x", rand.Uint64()))
	}
	s.is.Equal(series(s.scrape()), before)
	s.counts(10_001, "imagegend_http_requests_total", `method="other"`)
}

// series counts the lines with values.
func series(text string) (n int) {
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			n++
		}
	}
	return n
}

// Gauges tell the state of the service.
func TestState(t *testing.T) {
	s := start(t)
	s.grant("alice", 100)
	s.counts(512, "imagegend_slots")
	s.counts(1, "imagegend_ready")
	s.is.True(s.sum("imagegend_disk_free_bytes") > 0)
	s.counts(0, "imagegend_unsettled_charges")
	s.is.True(!strings.Contains(s.scrape(), "imagegend_audit_violations "))
	is := s.is
	is.True(!strings.Contains(s.scrape(), "imagegend_backup_timestamp_seconds "))
	s.backup = time.Unix(1_700_000_000, 0)
	s.counts(1_700_000_000, "imagegend_backup_timestamp_seconds")
	_, err := s.engine.Audit(t.Context())
	s.is.NoErr(err)
	s.counts(0, "imagegend_audit_violations")
	s.is.True(s.sum("imagegend_audit_timestamp_seconds") > 1e9)
	s.is.True(s.sum("imagegend_commit_duration_seconds_count") > 0)
	s.is.NoErr(s.engine.Stop(t.Context()))
	s.counts(0, "imagegend_ready")
	s.counts(1, "imagegend_not_ready_reason", `reason="draining"`)
}

// Names and help are as Prometheus wants them.
func TestNames(t *testing.T) {
	s := start(t)
	s.grant("alice", 100)
	_, err := s.generate("alice", imagegen.GenerateRequest{Model: "pool", Prompt: "a fox"})
	s.is.NoErr(err)
	s.ask(http.MethodGet, "/api/v1/models", "")
	p := expfmt.NewTextParser(model.UTF8Validation)
	parsed, err := p.TextToMetricFamilies(strings.NewReader(s.scrape()))
	s.is.NoErr(err)
	var families []*dto.MetricFamily
	for name, f := range parsed {
		if strings.HasPrefix(name, "imagegend_") {
			families = append(families, f)
		}
	}
	s.is.True(len(families) > 30)
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	s.is.NoErr(err)
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// Two engines of a process share a registry, by a label of the host's; without it, the second one is refused.
func TestTwoEngines(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	named := func(name string) *service {
		return startIn(t, prometheus.WrapRegistererWith(prometheus.Labels{"service": name}, registry), registry)
	}
	shop, blog := named("shop"), named("blog")
	shop.grant("alice", 10)
	_, err := shop.generate("alice", imagegen.GenerateRequest{Model: "m", Prompt: "a fox"})
	shop.is.NoErr(err)
	shop.counts(1, "imagegend_generations_ended_total", `service="shop"`, `class="ok"`)
	shop.counts(0, "imagegend_generations_ended_total", `service="blog"`)
	shop.is.NoErr(blog.engine.Stop(t.Context()))
	shop.counts(1, "imagegend_ready", `service="shop"`)
	shop.counts(0, "imagegend_ready", `service="blog"`)

	bare := prometheus.NewRegistry()
	shop.is.NoErr(bare.Register(metrics.New()))
	shop.is.True(errors.As(bare.Register(metrics.New()), new(prometheus.AlreadyRegisteredError)))
}

// A program that has no disk to watch and makes no backups has no such gauges.
func TestWhatIsNotWatched(t *testing.T) {
	s := start(t)
	s.metrics.Watch(metrics.Sources{Engine: s.engine})
	text := s.scrape()
	s.is.True(strings.Contains(text, "imagegend_ready 1"))
	s.is.True(!strings.Contains(text, "imagegend_disk_") && !strings.Contains(text, "imagegend_backup_"))
}
