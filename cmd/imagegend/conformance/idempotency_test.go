package conformance_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/matryer/is"
)

const idempotencyLine = "contract: | `Idempotency-Key` on POST |"

var idempotencyChecks = []check{
	{
		name:  "the same request again",
		lines: []string{idempotencyLine},
		run:   checkReplay,
	},
	{
		name:  "what makes a request the same",
		lines: []string{idempotencyLine},
		run:   checkSameRequest,
	},
	{
		name:  "another request with the key",
		lines: []string{idempotencyLine},
		run:   checkReusedKey,
	},
	{
		name:  "the first call is still running",
		lines: []string{idempotencyLine, "contract: | equal Idempotency-Key while the first runs |", "contract: | client hangs up during a synchronous call |"},
		run:   checkKeyInUse,
	},
	{
		name:  "the first call still waits for its turn",
		lines: []string{idempotencyLine},
		run:   checkKeyInUseBeforeCharge,
	},
	{
		name:  "nothing is kept of a refusal",
		lines: []string{idempotencyLine, "contract: | nothing is recorded |"},
		run:   checkKeyAfterRefusal,
	},
	{
		name:      "how long a key is kept",
		lines:     []string{idempotencyLine},
		elsewhere: []string{"imagegen.TestReserves", "imagegen/engine.TestIdempotencyKeyIsFreeAfter24Hours"},
	},
	{
		name:      "the key is reserved in the commit that accepts",
		lines:     []string{idempotencyLine},
		run:       checkManyCallers,
		elsewhere: []string{"imagegen/engine.TestConcurrentCallersWithOneKey", "cmd/imagegend/survival.TestOneKeyManyCallers"},
	},
	{
		name:  "keys that are refused",
		lines: []string{idempotencyLine},
		run:   checkRefusedKeys,
	},
}

// replays checks that an answer is an earlier one given again.
func (a answer) replays(t *testing.T, first answer) {
	t.Helper()
	is := is.New(t)
	is.Equal(a.status, first.status)
	is.Equal(string(a.body), string(first.body))
	is.Equal(a.header.Get("Location"), first.header.Get("Location"))
	first.has(t, "Idempotent-Replayed", "")
	a.has(t, "Idempotent-Replayed", "true", "X-Should-Retry", "")
}

func checkReplay(t *testing.T, s *service) {
	a := s.account(t, 20)
	for _, fields := range []object{
		{"n": 2},
		{"n": 2, "prompt": "[fake:images=1]"},
		{"prompt": "[fake:fail]"},
		{"prompt": "[fake:refuse]"},
		{"n": 2, "async": true},
		{"prompt": "[fake:fail]", "async": true},
	} {
		key := strings.ReplaceAll(fmt.Sprint(fields), " ", "-")
		first := a.post(t, fox(fields), "Idempotency-Key", key)
		if first.status == http.StatusAccepted {
			a.post(t, fox(fields), "Idempotency-Key", key).replays(t, first)
			a.ended(t, first.object(t)["id"])
		}
		a.generated(t, nil) // something comes between
		left := a.credits(t)
		a.post(t, fox(fields), "Idempotency-Key", key).replays(t, first)
		a.post(t, fox(fields), "Idempotency-Key", key).replays(t, first)
		same(t, a.credits(t), left)
	}
	poor := s.account(t, 1)
	last := poor.post(t, fox(nil), "Idempotency-Key", "last").is(t, http.StatusOK)
	same(t, poor.credits(t), 0)
	poor.post(t, fox(nil), "Idempotency-Key", "last").replays(t, last)
	same(t, poor.credits(t), 0)
}

func checkSameRequest(t *testing.T, s *service) {
	a := s.account(t, 20)
	first := a.post(t, fox(nil), "Idempotency-Key", "plain").is(t, http.StatusOK)
	for _, body := range []string{
		`{"size":"64x48","prompt":"a fox","model":"fake-1"}`,
		` {"model":"fake-1","prompt":"a f\u006fx","size":"64x48","n":1,"quality":"auto","async":false}`,
		`{"model":"fake-1","prompt":"a fox","size":"64x48","n":null,"user":"somebody","response_format":"url"}`,
	} {
		a.call(t, request{method: http.MethodPost, address: generationsPath, key: a.key, body: strings.NewReader(body),
			header: []string{"Content-Type", "application/json; charset=utf-8", "Idempotency-Key", "plain"}}).replays(t, first)
	}
	form := func(key string, parts ...part) answer {
		t.Helper()
		contentType, body := writeForm(t, foxForm(parts))
		return a.call(t, request{method: http.MethodPost, address: generationsPath, key: a.key, body: strings.NewReader(body),
			header: []string{"Content-Type", contentType, "Idempotency-Key", key}})
	}
	form("plain").replays(t, first)
	form("plain", part{name: "n", value: "1"}).replays(t, first)

	one, two := picture(8, 6), picture(6, 8)
	files := form("files", reference("one.png", one), reference("two.png", two)).is(t, http.StatusOK)
	form("files", part{name: "image", file: "x", value: string(one), contentType: "image/gif"}, reference("y", two)).replays(t, files)
	for _, others := range [][]part{
		{reference("two.png", two), reference("one.png", one)},
		{reference("one.png", one)},
		{reference("one.png", one), reference("two.png", append(bytes.Clone(two), 0))},
		nil,
	} {
		form("files", others...).refused(t, http.StatusUnprocessableEntity, "idempotencyKeyReused")
	}
	same(t, a.credits(t), 18)
}

func checkReusedKey(t *testing.T, s *service) {
	a, other := s.account(t, 10), s.account(t, 10)
	a.generated(t, nil, "Idempotency-Key", "one")
	for _, fields := range []object{{"n": 2}, {"prompt": "a fox "}, {"size": "auto"}, {"size": "48x64"}, {"quality": "low"}, {"async": true}} {
		a.post(t, fox(fields), "Idempotency-Key", "one").refused(t, http.StatusUnprocessableEntity, "idempotencyKeyReused", "Idempotency-Key").
			has(t, "Idempotent-Replayed", "", "Location", "")
	}
	same(t, a.credits(t), 9)
	other.generated(t, object{"n": 2}, "Idempotency-Key", "one") // another user's key is another
	a.generated(t, object{"n": 2}, "Idempotency-Key", "One")     // and so is one in other letters
	same(t, []any{a.credits(t), other.credits(t)}, []any{7, 8})
}

func checkKeyInUse(t *testing.T, s *service) {
	is := is.New(t)
	a := s.account(t, 10)
	fields := object{"prompt": "[fake:images=1] [fake:delay=3s]", "n": 2}
	post := func() answer { t.Helper(); return a.post(t, fox(fields), "Idempotency-Key", "slow") }
	hangUp := a.abandon(a.ask(t, fields, "Idempotency-Key", "slow"))
	eventually(t, "the call was charged", func() bool { return a.credits(t) == 8 })
	id := ids(a.list(t, ""))[0]
	waiting := make(chan answer)
	for range 9 { // of which eight wait for the answer
		go func() {
			got, _ := s.send(a.ask(t, fields, "Idempotency-Key", "slow"))
			waiting <- got
		}()
	}
	(<-waiting).refused(t, http.StatusConflict, "idempotencyKeyInUse", "Idempotency-Key").
		has(t, "Retry-After", "2", "Location", s.url+"/api/v1/generations/"+id.(string), "Idempotent-Replayed", "")
	a.post(t, fox(object{"n": 2}), "Idempotency-Key", "slow").refused(t, http.StatusUnprocessableEntity, "idempotencyKeyReused")
	hangUp()

	// Nobody received the answer: it is rendered once and kept.
	a.ended(t, id)
	rendered := post().is(t, http.StatusOK).has(t, "Idempotent-Replayed", "true")
	same(t, rendered.object(t)["id"], id)
	same(t, rendered.object(t)["balance"].(object)["credits"], 9)
	for range 8 {
		is.Equal(string((<-waiting).body), string(rendered.body))
	}
	a.generated(t, nil)
	again := post()
	is.Equal(string(again.body), string(rendered.body))
	same(t, a.credits(t), 8)
}

func checkKeyInUseBeforeCharge(t *testing.T, s *service) {
	s = s.start(t, settings{concurrency: 1})
	a := s.account(t, 10)
	a.reaches(t, a.queued(t, object{"prompt": "[fake:delay=2s]"})["id"], "processing")
	answers := make(chan answer, 2)
	for range 2 { // one waits for a slot, the other for the answer of the first
		q := a.ask(t, nil, "Idempotency-Key", "one")
		go func() {
			got, _ := s.send(q)
			answers <- got
		}()
	}
	first, second := (<-answers).is(t, http.StatusOK), (<-answers).is(t, http.StatusOK)
	same(t, string(first.body), string(second.body))
	same(t, a.credits(t), 8)
}

func checkKeyAfterRefusal(t *testing.T, s *service) {
	a := s.account(t, 0)
	a.post(t, fox(object{"n": 9}), "Idempotency-Key", "one").refused(t, http.StatusBadRequest, "invalid_request")
	a.post(t, fox(object{"n": 2}), "Idempotency-Key", "one").refused(t, http.StatusPaymentRequired, "insufficientCredits")
	s.call(t, request{method: http.MethodPost, address: generationsPath, key: "nonsense", header: []string{"Idempotency-Key", "one"}}).
		refused(t, http.StatusUnauthorized, "invalidApiKey")
	s.grant(t, a.user, 10, 0)
	first := a.post(t, fox(nil), "Idempotency-Key", "one").is(t, http.StatusOK).has(t, "Idempotent-Replayed", "")
	a.post(t, fox(nil), "Idempotency-Key", "one").replays(t, first)
}

func checkManyCallers(t *testing.T, s *service) {
	a := s.account(t, 10)
	const callers = 16
	answers := make(chan answer, callers)
	for range callers {
		q := a.ask(t, object{"async": true}, "Idempotency-Key", "one")
		go func() {
			got, _ := s.send(q) // what was not answered has status 0
			answers <- got
		}()
	}
	first, replayed := <-answers, 0
	for _, got := range append([]answer{first}, collect(answers, callers-1)...) {
		is.New(t).Equal(string(got.is(t, http.StatusAccepted).body), string(first.body))
		if got.header.Get("Idempotent-Replayed") == "true" {
			replayed++
		}
	}
	same(t, []any{replayed, a.credits(t)}, []any{callers - 1, 9})
}

func collect(from <-chan answer, n int) (all []answer) {
	for range n {
		all = append(all, <-from)
	}
	return all
}

func checkRefusedKeys(t *testing.T, s *service) {
	a := s.account(t, 10)
	for _, key := range []string{"", "two words", "é", strings.Repeat("x", 256), "tab\there"} {
		a.post(t, fox(nil), "Idempotency-Key", key).refused(t, http.StatusBadRequest, "invalid_request", "Idempotency-Key", "255")
	}
	a.post(t, fox(nil), "Idempotency-Key", "one", "Idempotency-Key", "one").refused(t, http.StatusBadRequest, "invalid_request")
	same(t, a.credits(t), 10)
	for _, key := range []string{"x", "!~\"{}", strings.Repeat("x", 255)} {
		a.generated(t, nil, "Idempotency-Key", key)
	}
}
