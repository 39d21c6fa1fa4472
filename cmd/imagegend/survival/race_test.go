package survival_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// 64 clients race for credits that suffice for a third of their calls. What the answers say that
// their images cost is what the balance lost, and nobody ever sees a balance below zero.
func TestRaceForCredits(t *testing.T) {
	const callers, calls, asked = 64, 6, 2
	const granted = callers * calls * asked / 3
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{})
	_, key := d.NewUser(granted)

	sampled := sample(t, d, key, granted)
	verdicts := make(chan verdict, callers*calls)
	var wg sync.WaitGroup
	for caller := range callers {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(uint64(caller), 1))
			for call := range calls {
				verdicts <- race(t.Context(), d, key, random, fmt.Sprintf("%d of %d", call, caller))
			}
		})
	}
	wg.Wait()
	close(verdicts)
	sampled()

	var spent int
	outcomes := map[string]int{}
	for v := range verdicts {
		if v.err != nil {
			t.Error(v.err)
		}
		spent += v.credits
		outcomes[v.outcome]++
	}
	t.Logf("outcomes %v", outcomes)
	for _, outcome := range []string{"succeeded", "partial", "failed", "asynchronous, succeeded",
		"asynchronous, failed", "refused"} {
		is.True(outcomes[outcome] > 0)
	}
	is.Equal(granted-d.MustBalance(t, key), spent)

	left := granted - spent
	for range left { // every credit that came back can be spent
		is.Equal(d.Call(operation{prompt: "the rest", n: 1}.request(key)).Status, http.StatusOK)
	}
	is.Equal(d.Call(operation{prompt: "one more", n: 1}.request(key)).Code(), "insufficientCredits")
	d.Settled(t, key, granted)
	d.Clean(t)
}

// verdict is what a caller knows at the end of a call.
type verdict struct {
	outcome string
	credits int
	err     error
}

// race makes one call and follows it to its end.
func race(ctx context.Context, d *daemontest.Daemon, key string, random *rand.Rand, name string) verdict {
	directives := []string{"", "", "", "[fake:images=1]", "[fake:fail]", "[fake:images=1] [fake:fail]", "[fake:refuse]",
		"[fake:delay=20ms]", "[fake:corrupt]"}
	o := operation{prompt: name + " " + directives[random.IntN(len(directives))], n: 2, async: random.IntN(2) == 0}
	answer, err := d.Do(ctx, o.request(key))
	switch {
	case err != nil:
		return verdict{err: err}
	case answer.Status == http.StatusAccepted:
		return follow(ctx, d, key, answer)
	case answer.Code() == "insufficientCredits":
		return verdict{outcome: "refused"}
	case answer.Code() == "generationFailed":
		return verdict{outcome: "failed"}
	case answer.Status != http.StatusOK:
		return verdict{err: fmt.Errorf("status %d: %s", answer.Status, answer.Body)}
	}
	var g daemontest.Generation
	if err := json.Unmarshal(answer.Body, &g); err != nil || g.Usage.Credits != o.n {
		return verdict{"partial", g.Usage.Credits, err}
	}
	return verdict{"succeeded", g.Usage.Credits, nil}
}

// follow polls an accepted call to its end.
func follow(ctx context.Context, d *daemontest.Daemon, key string, accepted daemontest.Answer) verdict {
	var g daemontest.Generation
	if err := json.Unmarshal(accepted.Body, &g); err != nil {
		return verdict{err: err}
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for !g.Ended() {
		select {
		case <-ctx.Done():
			return verdict{err: fmt.Errorf("%s has not ended: %w", g.ID, ctx.Err())}
		case <-poll.C:
		}
		var err error
		if g, err = d.Generation(ctx, key, g.ID); err != nil {
			return verdict{err: err}
		}
	}
	return verdict{"asynchronous, " + g.Status, g.Usage.Credits, nil}
}

// sample reads the balance all the time until the function that it returns is called.
func sample(t *testing.T, d *daemontest.Daemon, key string, granted int) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var samples int
	var wg sync.WaitGroup
	wg.Go(func() {
		for ctx.Err() == nil {
			credits, err := d.Balance(ctx, key)
			switch {
			case ctx.Err() != nil:
			case err != nil:
				t.Error(err)
				return
			case credits < 0 || credits > granted:
				t.Errorf("the balance is %d of %d granted", credits, granted)
			}
			samples++
		}
	})
	return func() {
		cancel()
		wg.Wait()
		if samples < 10 {
			t.Errorf("the balance was read only %d times", samples)
		}
	}
}

// 32 callers send the same request under the same idempotency key at once: one of them is charged,
// and all get the same answer.
func TestOneKeyManyCallers(t *testing.T) {
	const rounds, callers = 5, 32
	d := daemontest.Start(t, daemontest.Options{})
	for name, o := range map[string]operation{
		"synchronous":  {prompt: "a fox [fake:delay=50ms]", n: 2},
		"asynchronous": {prompt: "a fox", n: 2, async: true},
		"failed":       {prompt: "a fox [fake:delay=50ms] [fake:fail]", n: 2},
		"references":   {prompt: "a fox [fake:delay=50ms]", n: 2, references: 2},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			_, key := d.NewUser(rounds * o.n)
			for round := range rounds {
				o.key = fmt.Sprint("round-", round)
				answers := atOnce(t, d, o, key, callers)
				isFirst := func(a daemontest.Answer) bool { return a.Header.Get("Idempotent-Replayed") == "" }
				first := slices.IndexFunc(answers, isFirst)
				is.True(first >= 0)
				for i, answer := range answers {
					is.True(i == first || !isFirst(answer))
					is.Equal(answer.Status, answers[first].Status)
					is.Equal(string(answer.Body), string(answers[first].Body))
				}
			}
			d.AllEnded(t, key, 20*time.Second)
			is.Equal(len(d.MustGenerations(t, key, "")), rounds)
			d.Settled(t, key, rounds*o.n)
		})
	}
	d.Clean(t)
}

// atOnce has many callers, whose connections are open, make the same request.
func atOnce(t *testing.T, d *daemontest.Daemon, o operation, key string, callers int) []daemontest.Answer {
	answers := make([]daemontest.Answer, callers)
	var connected, answered sync.WaitGroup
	connected.Add(callers)
	for i := range answers {
		answered.Go(func() {
			_, err := d.Balance(t.Context(), key)
			connected.Done()
			connected.Wait()
			if err == nil {
				answers[i], err = insist(t.Context(), d, o, key)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	answered.Wait()
	return answers
}

// insist repeats a request while more wait for the first one with its key than may, or more upload at once.
func insist(ctx context.Context, d *daemontest.Daemon, o operation, key string) (daemontest.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for {
		answer, err := d.Do(ctx, o.request(key))
		if err != nil || answer.Status != http.StatusConflict && answer.Status != http.StatusServiceUnavailable {
			return answer, err
		}
		select {
		case <-ctx.Done():
			return answer, fmt.Errorf("still in use: %w", ctx.Err())
		case <-poll.C:
		}
	}
}
