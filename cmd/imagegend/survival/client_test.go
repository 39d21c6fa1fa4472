package survival_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path"
	"sync/atomic"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

// client asks for images, one request after another, across the lives of a daemon.
type client struct {
	name    string
	key     string // API key
	random  *rand.Rand
	auditor *auditor
	many    bool // nodes, of which some may not offer fake-2

	number   int
	pending  *operation // sent under an idempotency key, and not answered: it is sent again
	waiting  []string   // asynchronous generations to look at
	answered []answered
}

// answered is an operation with an idempotency key and the answer that it must get ever after.
type answered struct {
	operation
	daemontest.Answer
}

// work goes on until the daemon is killed. That a request is not answered is wrong before, unless the daemon stood
// still meanwhile, and expected after dying is set.
func (c *client) work(ctx context.Context, d *daemontest.Daemon, dying *atomic.Bool) {
	for !dying.Load() {
		before := c.auditor.signals.Load()
		switch err := c.step(ctx, d); {
		case err == nil || dying.Load():
		case c.auditor.signals.Load() != before: // its time to send a header may have passed in the middle of it
			c.auditor.count("unanswered")
		default:
			c.auditor.violated("%s: %v", c.name, err)
			return
		}
	}
}

func (c *client) step(ctx context.Context, d *daemontest.Daemon) error {
	switch n := c.random.IntN(20); {
	case n == 0:
		return c.readBalance(ctx, d)
	case n == 1 && len(c.answered) > 0:
		_, err := c.again(ctx, d, c.answered[c.random.IntN(len(c.answered))])
		return err
	case n < 8 && len(c.waiting) > 0:
		return c.poll(ctx, d)
	}
	return c.generate(ctx, d)
}

func (c *client) readBalance(ctx context.Context, d *daemontest.Daemon) error {
	credits, err := d.Balance(ctx, c.key)
	if err == nil && credits < 0 {
		c.auditor.violated("%s has %d credits", c.name, credits)
	}
	return err
}

// poll looks at one of the asynchronous generations.
func (c *client) poll(ctx context.Context, d *daemontest.Daemon) error {
	i := c.random.IntN(len(c.waiting))
	g, err := d.Generation(ctx, c.key, c.waiting[i])
	if err != nil {
		return err
	}
	c.auditor.hear(c.key, g)
	if g.Ended() {
		c.auditor.count("asynchronous, " + g.Status)
		c.waiting = append(c.waiting[:i], c.waiting[i+1:]...)
	}
	return nil
}

// generate sends what has not been answered again, else something new.
func (c *client) generate(ctx context.Context, d *daemontest.Daemon) error {
	var o operation
	if c.pending != nil {
		o = *c.pending
	} else {
		c.number++
		o = newOperation(c.random, fmt.Sprintf("%s %d", c.name, c.number))
		if c.many && c.random.IntN(5) == 0 {
			o.model = "fake-2"
		}
	}
	if o.key != "" {
		c.pending = &o
	}
	answer, err := d.Do(ctx, o.request(c.key))
	o.underWay = o.underWay || c.many && (err != nil || answer.Code() == "internalError")
	if err != nil {
		return err
	}
	if answer.Status == http.StatusConflict && o.key != "" {
		c.auditor.count("in use")
		return nil
	}
	if answer.Code() == "internalError" { // the outcome is unknown: who has a key asks again
		c.auditor.count(unknown)
		return nil
	}
	c.pending = nil
	c.take(o, answer)
	return nil
}

// unknown counts answers that leave open what became of a request.
const unknown = "unknown"

// take hands an answer to the auditor.
func (c *client) take(o operation, answer daemontest.Answer) {
	if o.key != "" && recorded(answer.Status) {
		c.answered = append(c.answered, answered{o, answer})
	}
	if answer.Header.Get("Idempotent-Replayed") != "" {
		c.auditor.count("retried after a kill")
	}
	switch code := answer.Code(); {
	case answer.Status == http.StatusOK, answer.Status == http.StatusAccepted:
		c.takeGeneration(o, answer)
	case code == "generationFailed":
		c.auditor.count("failed")
		c.auditor.hear(c.key, daemontest.Generation{ID: path.Base(answer.Header.Get("Location")), Status: "failed"})
	case code == "insufficientCredits", code == "invalid_request" && (o.wrong || o.model != ""),
		code == "overloaded": // who waited for a slot while the process stood still has waited too long
		c.auditor.count(code)
		if !o.underWay {
			c.auditor.refuse(o.prompt)
		}
	default:
		c.auditor.violated("%s: %q was answered with status %d: %s", c.name, o.prompt, answer.Status, answer.Body)
	}
}

func (c *client) takeGeneration(o operation, answer daemontest.Answer) {
	var g daemontest.Generation
	if err := json.Unmarshal(answer.Body, &g); err != nil {
		c.auditor.violated("%s: %q: %v: %s", c.name, o.prompt, err, answer.Body)
		return
	}
	switch {
	case g.Prompt != o.prompt || g.N != o.n || g.Usage.CreditsRequested != o.n || g.Usage.Credits != len(g.Images) ||
		len(g.Images) > o.n:
		c.auditor.violated("%s: %+v was answered with %s", c.name, o, answer.Body)
	case o.async:
		c.auditor.count("accepted")
		c.waiting = append(c.waiting, g.ID)
	case g.Status != "succeeded" || len(g.Images) == 0 || g.Balance == nil || g.Balance.Credits < 0:
		c.auditor.violated("%s: a synchronous answer: %s", c.name, answer.Body)
	case len(g.Images) < o.n:
		c.auditor.count("partial")
	default:
		c.auditor.count("succeeded")
	}
	c.auditor.hear(c.key, g)
}

// again asks once more for what was answered: the answer is the first one's, to the byte, unless there is none yet.
func (c *client) again(ctx context.Context, d *daemontest.Daemon, a answered) (replayed bool, err error) {
	answer, err := d.Do(ctx, a.request(c.key))
	if err != nil {
		return false, err
	}
	// as above: what was answered shows later
	if code := answer.Code(); code == "internalError" || c.many && code == "overloaded" {
		c.auditor.count(unknown)
		return false, nil
	}
	c.auditor.count("replayed")
	if answer.Status != a.Status || !bytes.Equal(answer.Body, a.Body) ||
		answer.Header.Get("Idempotent-Replayed") != "true" {
		c.auditor.violated("%s: %q was answered with %d %s\nand is now with %d %s", c.name, a.prompt, a.Status, a.Body,
			answer.Status, answer.Body)
	}
	return true, nil
}
