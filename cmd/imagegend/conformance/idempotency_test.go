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
		name:      "another request with the key",
		lines:     []string{idempotencyLine},
		elsewhere: []string{"imagegen/client.TestOverHTTP", "imagegen/httpapi.TestIdempotencyStatuses"},
	},
	{
		name: "the first call is still running",
		lines: []string{idempotencyLine, "contract: | equal Idempotency-Key while the first runs |",
			"contract: | client hangs up during a synchronous call |"},
		elsewhere: []string{"imagegen/client.TestOverHTTP", "imagegen/httpapi.TestIdempotencyStatuses"},
	},
	{
		name:      "the first call still waits for its turn",
		lines:     []string{idempotencyLine},
		elsewhere: []string{"imagegen/engine.TestConcurrentCallersWithOneKey"},
	},
	{
		name:      "nothing is kept of a refusal",
		lines:     []string{idempotencyLine, "contract: | nothing is recorded |"},
		elsewhere: []string{"imagegen/client.TestOverHTTP"},
	},
	{
		name:      "how long a key is kept",
		lines:     []string{idempotencyLine},
		elsewhere: []string{"imagegen.TestReserves", "imagegen/engine.TestIdempotencyKeyIsFreeAfter24Hours"},
	},
	{
		name:  "the key is reserved in the commit that accepts",
		lines: []string{idempotencyLine},
		elsewhere: []string{"imagegen/client.TestOverHTTP", "imagegen/engine.TestConcurrentCallersWithOneKey",
			"cmd/imagegend/survival.TestOneKeyManyCallers"},
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
			header: []string{"Content-Type", "application/json; charset=utf-8", "Idempotency-Key", "plain"}}).
			replays(t, first)
	}
	form := func(key string, parts ...part) answer {
		t.Helper()
		contentType, body := writeForm(t, foxForm(parts))
		return a.call(t, request{method: http.MethodPost, address: generationsPath, key: a.key,
			body: strings.NewReader(body), header: []string{"Content-Type", contentType, "Idempotency-Key", key}})
	}
	form("plain").replays(t, first)
	form("plain", part{name: "n", value: "1"}).replays(t, first)

	one, two := picture(8, 6), picture(6, 8)
	files := form("files", reference("one.png", one), reference("two.png", two)).is(t, http.StatusOK)
	form("files", part{name: "image", file: "x", value: string(one), contentType: "image/gif"}, reference("y", two)).
		replays(t, files)
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

func checkRefusedKeys(t *testing.T, s *service) {
	a := s.account(t, 10)
	for _, key := range []string{"", "two words", "é", strings.Repeat("x", 256), "tab\there"} {
		a.post(t, fox(nil), "Idempotency-Key", key).refused(t, http.StatusBadRequest, "invalid_request",
			"Idempotency-Key", "255")
	}
	a.post(t, fox(nil), "Idempotency-Key", "one", "Idempotency-Key", "one").refused(t, http.StatusBadRequest,
		"invalid_request")
	same(t, a.credits(t), 10)
	for _, key := range []string{"x", "!~\"{}", strings.Repeat("x", 255)} {
		a.generated(t, nil, "Idempotency-Key", key)
	}
}
