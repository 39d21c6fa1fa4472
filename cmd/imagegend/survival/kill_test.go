package survival_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

const (
	kills       = 50
	longestLife = 500 * time.Millisecond // under load
	longestBoot = 5 * time.Second
)

// fixedAddress keeps the addresses in answers from changing with the port, so that answers of one
// process can be compared to those of the next.
var fixedAddress = []string{"--base-url", "https://images.example.com"}

// A daemon that is killed again and again loses nothing that it has acknowledged, charges nothing
// twice and keeps no credits of what came to nothing.
func TestKillUnderLoad(t *testing.T) {
	is := is.New(t)
	s := newSingleWorkload(t, seed(t))
	defer s.report()
	var slowest time.Duration
	rounds := kills * times()
	if shortForm() {
		rounds = kills / 5
	}
	for round := range rounds {
		d := s.start()
		slowest = max(slowest, d.Startup)
		s.auditor.compareFresh(t.Context(), d)
		if round%10 == 5 {
			s.grant(d, round)
			d.Clean(t)
		}
		kill := s.use(d)
		<-time.After(5*time.Millisecond + span(s.random, longestLife-5*time.Millisecond))
		kill()
		if len(s.auditor.wrong) > 0 || t.Failed() {
			break
		}
	}
	s.aftermath()
	t.Logf("slowest start %s", slowest)
	s.auditor.outcomes["kills"] = rounds
	report(t, "kill", s.auditor.outcomes)
	is.True(slowest < longestBoot)
	is.Equal(s.auditor.outcomes[unknown], 0) // a kill leaves nobody who could say so
	if shortForm() {
		return // too few answers for shares of them
	}
	answers := 0
	for _, outcome := range []string{"succeeded", "partial", "failed", "accepted", "insufficientCredits",
		"invalid_request"} {
		answers += s.auditor.outcomes[outcome]
	}
	for outcome, least := range map[string]int{"succeeded": answers / 20, "partial": answers / 20,
		"failed": answers / 20, "accepted": answers / 20, "insufficientCredits": answers / 20, "replayed": answers / 20,
		"asynchronous, succeeded": 1, "asynchronous, failed": 1, "invalid_request": 1, "retried after a kill": 1} {
		if s.auditor.outcomes[outcome] < max(1, least) {
			t.Errorf("%d times %q of %d answers: the test has not tested it", s.auditor.outcomes[outcome], outcome,
				answers)
		}
	}
}

// One kill in the middle of work: what somebody waited for is failed and paid back, what was queued
// is tried again and succeeds, and so does what had not begun.
func TestKillOnce(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	o := daemontest.Options{DataDir: t.TempDir(), Args: []string{"--concurrency", "2"}}
	d := daemontest.Start(t, o)
	_, key := d.NewUser(10)
	c := newCrowd(t, d, key)
	go d.Do(t.Context(), operation{prompt: "waited for [fake:delay=2s]", n: 2}.request(key))
	c.queue("queued [fake:delay=2s]")
	c.under(2)
	c.queue("not begun")
	d.Kill()

	d = daemontest.Start(t, o)
	d.AllEnded(t, key, 20*time.Second)
	ended := map[string]string{}
	for _, g := range d.MustGenerations(t, key, "") {
		ended[g.Prompt] = g.Status
	}
	want := map[string]string{"waited for [fake:delay=2s]": "failed", "queued [fake:delay=2s]": "succeeded",
		"not begun": "succeeded"}
	is.Equal(cmp.Diff(want, ended), "")
	d.Settled(t, key, 10)
	d.Clean(t)
}
