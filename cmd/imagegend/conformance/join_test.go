package conformance_test

import (
	"crypto/rand"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
)

const (
	whatJoinsLine = "contract: | what joins |"
	howLine       = "contract: | how | while the work runs"
	nodesLine     = "contract: | several nodes | the mark stands in the store"
)

var joinChecks = []check{
	{
		name: "an equal call joins one whose caller hung up",
		lines: []string{"contract: OpenAI's clients repeat a call that timed out", whatJoinsLine, howLine,
			"contract: | addresses | are built from the joining"},
		run: checkJoin,
		elsewhere: []string{"imagegen/engine.TestARepetitionJoinsWorkUnderWay",
			"imagegen/engine.TestNothingIsJoinedAfterTheWindow",
			"imagegen/httpapi.TestAnAnswerThatCannotBeWrittenIsJoined"},
	},
	{name: "what failed is made anew", lines: []string{whatJoinsLine},
		elsewhere: []string{"imagegen/engine.TestWhatFailedIsMadeAnew", "imagegen/engine.TestKeysOfOneUserDoNotJoin",
			"imagegen/engine.TestARepetitionJoinsWhatIsNoLongerOffered"}},
	{
		name:  "a call that says it is a repetition",
		lines: []string{"contract: | `x-stainless-retry-count` ≥ 1 |"},
		run:   checkRetry,
		elsewhere: []string{"imagegen/engine.TestARetryWaitsForTheFirstCallerToHangUp",
			"imagegen/engine.TestARetryOfOneOfTwoOpenCallsIsACallOfItsOwn"},
	},
	{name: "two callers who wait", lines: []string{"contract: | two equal requests at once, both connected |"},
		elsewhere: []string{"imagegen/engine.TestTwoCallersWhoWaitGetTwoGenerations"}},
	{
		name:      "calls that never join",
		lines:     []string{"contract: | never joined | a request with an Idempotency-Key"},
		elsewhere: []string{"imagegen/engine.TestOtherCallsDoNotJoin"},
	},
	{
		name:  "who joined takes no slot",
		lines: []string{"contract: | while waiting | takes no slot"},
		run:   checkJoinTakesNoSlot,
		elsewhere: []string{"imagegen/engine.TestAtMostEightCallsOfAKeyWait",
			"imagegen/engine.TestADrainEndsTheWaitOfWhoJoined", "imagegen/engine.TestARevokedKeyJoinsNothing"},
	},
	{name: "an answer that nobody received, after a restart", lines: []string{nodesLine},
		daemon: checkJoinAfterRestart},
	{
		name:      "an answer of the last moments before a kill",
		lines:     []string{nodesLine},
		daemon:    checkJoinAfterKill,
		elsewhere: []string{"imagegen/storage.TestAnswersOfAProcessThatWasKilled"},
	},
}

// slow is work that lasts until long after a hang-up was noticed.
const slow = "[fake:delay=4s] a fox"

// hangsUp makes a call whose caller hangs up once it is charged, and returns when the service has noticed that: it has
// ended the request.
func (a *customer) hangsUp(t *testing.T, fields object) (id any) {
	t.Helper()
	before, request := a.credits(t), rand.Text()
	hangUp := a.abandon(a.ask(t, fields, "X-Request-Id", request))
	eventually(t, "the call was charged", func() bool { return a.credits(t) != before })
	hangUp()
	eventually(t, "the hang-up was noticed", func() bool {
		for line := range strings.Lines(a.log()) {
			if strings.Contains(line, request) && strings.Contains(line, `"duration_ms"`) {
				return true
			}
		}
		return false
	})
	return ids(a.list(t, ""))[0]
}

func (s *service) repeated(t *testing.T, got answer) bool {
	t.Helper()
	return got.header.Get("Idempotent-Replayed") == "true"
}

func checkJoin(t *testing.T, s *service) {
	is := is.New(t)
	a := s.account(t, 10)
	fields := object{"prompt": slow, "n": 2}
	id := a.hangsUp(t, fields)
	got := a.post(t, fox(fields), "Host", "joined.example.com").is(t, http.StatusOK).has(t, "Idempotent-Replayed",
		"true", "Location", pattern(`http://joined\.example\.com/.*`))
	same(t, []any{got.object(t)["id"], len(images(got.object(t))), a.credits(t)}, []any{id, 2, 8})
	is.True(!s.repeated(t, a.post(t, fox(fields)).is(t, http.StatusOK))) // the answer was received
	same(t, a.credits(t), 6)

	id = a.hangsUp(t, fields)
	a.ended(t, id)
	same(t, a.post(t, fox(fields)).is(t, http.StatusOK).has(t, "Idempotent-Replayed", "true").object(t)["id"], id)
	same(t, a.credits(t), 4)
}

func checkRetry(t *testing.T, s *service) {
	a := s.account(t, 10)
	fields := object{"prompt": "[fake:delay=10s] a fox"} // the repetition waits 2 s, from when it has come
	first := make(chan answer, 1)
	q := a.ask(t, fields)
	go func() {
		got, _ := s.send(q) // a proxy may keep the connection of a caller who has gone
		first <- got
	}()
	eventually(t, "the call was charged", func() bool { return a.credits(t) == 9 })
	got := a.post(t, fox(fields), "X-Stainless-Retry-Count", "1").is(t, http.StatusOK).has(t, "Idempotent-Replayed",
		"true")
	got.has(t, "Location", got.object(t)["poll_url"])
	same(t, got.object(t)["id"], (<-first).is(t, http.StatusOK).object(t)["id"])
	same(t, a.credits(t), 9)
}

func checkJoinTakesNoSlot(t *testing.T, s *service) {
	s = s.start(t, settings{concurrency: 1, slotWait: 100 * time.Millisecond})
	a := s.account(t, 10)
	fields := object{"prompt": slow}
	a.hangsUp(t, fields)
	a.post(t, fox(nil)).refused(t, http.StatusServiceUnavailable, "overloaded")
	a.post(t, fox(fields)).is(t, http.StatusOK).has(t, "Idempotent-Replayed", "true")
}

func checkJoinAfterRestart(t *testing.T) {
	l := live(t)
	a := serviceOf(l.Daemon).account(t, 10)
	fields := object{"prompt": slow}
	id := a.hangsUp(t, fields)
	a.ended(t, id)
	l.Terminate(time.Minute)
	l.again(t, a)
	same(t, a.post(t, fox(fields)).is(t, http.StatusOK).has(t, "Idempotent-Replayed", "true").object(t)["id"], id)
	same(t, a.credits(t), 9)

	fields = object{"prompt": "[fake:delay=2s] a wolf"}
	a.hangsUp(t, fields) // this one is under way when the daemon dies: it is refunded, and made anew
	l.Kill()
	l.again(t, a)
	eventually(t, "it was refunded", func() bool { return a.credits(t) == 9 })
	a.post(t, fox(fields)).is(t, http.StatusOK).has(t, "Idempotent-Replayed", "")
	same(t, a.credits(t), 8)
}

func checkJoinAfterKill(t *testing.T) {
	l := live(t)
	a := serviceOf(l.Daemon).account(t, 10)
	first := a.post(t, fox(nil)).is(t, http.StatusOK) // nobody knows whether it was received
	l.Kill()
	l.again(t, a)
	same(t, a.post(t, fox(nil)).is(t, http.StatusOK).has(t, "Idempotent-Replayed", "true").object(t)["id"],
		first.object(t)["id"])
	same(t, a.credits(t), 9)
}
