package conformance_test

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

const restartLine = "contract: | restart | queued work resumes;"

var restartChecks = []check{
	{name: "a daemon that is killed", lines: []string{restartLine}, daemon: checkKilled},
	{name: "a daemon that is killed at every attempt", lines: []string{restartLine},
		elsewhere: []string{"imagegen/engine.TestRecovery", "imagegen/engine.TestRecoveryOfAJob"}},
	{name: "a drain costs no attempt", lines: []string{restartLine}, elsewhere: []string{"imagegen/engine.TestDrain"}},
	{
		name:   "answers are replayed after a restart",
		lines:  []string{idempotencyLine},
		daemon: checkReplayAfterRestart,
	},
	{
		name:  "recovery",
		lines: []string{restartLine},
		elsewhere: []string{"imagegen/engine.TestRecovery", "imagegen/engine.TestRecoveryOfAnIntent",
			"imagegen/engine.TestDrain", "cmd/imagegend/survival.TestKillUnderLoad"},
	},
}

// lives is a data directory and the daemons that serve it, one after another.
type lives struct {
	daemontest.Options
	*daemontest.Daemon
}

// live starts the first daemon on a new directory.
func live(t *testing.T, args ...string) *lives {
	t.Helper()
	l := &lives{Options: daemontest.Options{DataDir: t.TempDir(), Args: append(args, "--base-url",
		"https://images.example.com")}}
	l.Daemon = daemontest.Start(t, l.Options)
	return l
}

// again starts the next daemon, and lets accounts ask it.
func (l *lives) again(t *testing.T, accounts ...*customer) {
	t.Helper()
	l.Daemon = daemontest.Start(t, l.Options)
	for _, a := range accounts {
		a.service = serviceOf(l.Daemon)
	}
}

func checkKilled(t *testing.T) {
	l := live(t, "--concurrency", "2")
	a := serviceOf(l.Daemon).account(t, 10)
	defer a.abandon(a.ask(t, object{"prompt": "[fake:hang]"}))()
	eventually(t, "the synchronous call is under way", func() bool { return a.credits(t) == 9 })
	synchronous := ids(a.list(t, ""))[0]
	running := a.queued(t, object{"prompt": "[fake:delay=3s] a fox", "n": 2})["id"]
	a.reaches(t, running, "processing")
	waiting := a.queued(t, nil)["id"]
	done := func() (all []any) {
		for _, id := range []any{synchronous, running, waiting} {
			g := a.ended(t, id)
			all = append(all, g["status"], g["usage"].(object)["credits"])
		}
		return all
	}
	l.Kill()

	l.again(t, a)
	same(t, a.generation(t, running)["status"], "processing") // never backwards
	same(t, done(), []any{"failed", 0, "succeeded", 2, "succeeded", 1})
	same(t, a.credits(t), 7)
	same(t, a.generation(t, synchronous)["error"], object{"message": failedMessage, "code": "generationFailed"})
}

// show is what an operator sees of a generation.
func show(t *testing.T, d *daemontest.Daemon, id any) object {
	t.Helper()
	return decode[object](t, []byte(commands{d}.run(t, "generation", "show", id.(string), "--json")))
}

func checkReplayAfterRestart(t *testing.T) {
	l := live(t)
	a := serviceOf(l.Daemon).account(t, 4)
	requests := []object{{"n": 2, "prompt": "[fake:images=1]"}, {"n": 2}, {"prompt": "[fake:fail]"}, {"async": true}}
	post := func(i int) answer {
		t.Helper()
		return a.post(t, fox(requests[i]), "Idempotency-Key", strconv.Itoa(i))
	}
	var first []answer
	for i := range requests {
		first = append(first, post(i))
	}
	a.ended(t, first[3].is(t, http.StatusAccepted).object(t)["id"])
	same(t, a.credits(t), 0)
	for _, end := range []func(){l.Kill, func() { l.Terminate(exitLimit) }} {
		end()
		l.again(t, a)
		for i := range requests {
			post(i).replays(t, first[i])
		}
	}
	same(t, a.credits(t), 0)
}
