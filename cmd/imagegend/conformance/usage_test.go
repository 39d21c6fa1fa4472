package conformance_test

import (
	"net/http"
	"strings"
	"testing"
)

// meterChecks are of section 9: price, usage, limits.
var meterChecks = []check{
	{name: "quotes", lines: []string{"contract: | `POST /api/v1/images/quote` |"}, run: checkQuotes,
		elsewhere: []string{"imagegen/engine.TestQuoteIsTheCharge", "imagegen/httpapi.TestQuoteIsRefused"}},
	{name: "waiting for an end", lines: []string{"contract: | `GET /api/v1/generations/:id` with `Prefer: wait=N` |"}, run: checkPreferWait,
		elsewhere: []string{"imagegen/engine.TestAwaitOfAnotherHost", "imagegen/engine.TestAwaitEnds", "imagegen/engine.TestAwaitDoesNotPoll", "imagegen/httpapi.TestPreferWait"}},
	{name: "usage", lines: []string{"contract: | `GET /api/v1/usage?from=&to=&group_by=` |"}, run: checkUsageReport,
		elsewhere: []string{"imagegen/storage.TestCreditAdmin", "imagegen/httpapi.TestUsage", "imagegen/httpapi.TestUsageIsRefused"}},
	{name: "limits of a key", lines: []string{"contract: | key limits |"},
		elsewhere: []string{"imagegen/storage.TestJoint", "imagegen/storage/internal/ledger.TestLimitsOfDaysAndMonths", "imagegen/engine.TestRequestsAtOnce",
			"imagegen/engine.TestLimitOfCredits", "imagegen/httpapi.TestKeyLimits"}},
	{name: "the command for usage", lines: []string{"contract: | `usage --user NAME"},
		elsewhere: []string{"cmd/imagegend/internal/admin.TestKeys", "cmd/imagegend/internal/cli.TestEveryCommandHasAnExample"}},
}

func checkQuotes(t *testing.T, s *service) {
	a := s.account(t, 10)
	quote := a.call(t, request{method: http.MethodPost, address: "/api/v1/images/quote", key: a.key, body: encode(t, fox(object{"n": 2})),
		header: []string{"Content-Type", "application/json"}}).is(t, http.StatusOK).object(t)
	same(t, without(quote, "credits", "quality", "aspect_ratio", "model", "balance"), object{"object": "quote", "n": 2})
	g := a.generated(t, object{"n": 2})
	same(t, g["usage"].(object)["credits_requested"], quote["credits"])
	same(t, quote["balance"].(object)["credits"], 10)
}

func checkPreferWait(t *testing.T, s *service) {
	a := s.account(t, 10)
	id := a.queued(t, nil)["id"].(string)
	for {
		g := a.get(t, "/api/v1/generations/"+id, "Prefer", "wait=60").is(t, http.StatusOK).object(t)
		if g["status"] == "succeeded" {
			return
		}
	}
}

func checkUsageReport(t *testing.T, s *service) {
	a, other := s.account(t, 10), s.account(t, 10)
	a.generated(t, object{"n": 2})
	usage := a.get(t, "/api/v1/usage").is(t, http.StatusOK).object(t)
	row := usage["data"].([]any)[0].(object)
	same(t, []any{row["credits_spent"], row["images"], row["generations"]}, []any{2, 2, 1})
	same(t, other.get(t, "/api/v1/usage").is(t, http.StatusOK).object(t)["data"], []any{})
	table := a.get(t, "/api/v1/usage?group_by=model", "Accept", "text/csv").is(t, http.StatusOK)
	same(t, strings.Contains(string(table.body), ",fake-1,,2,0,2,2,1,0"), true)
}
