package conformance_test

// meterChecks are of section 9: price, usage, limits.
var meterChecks = []check{
	{name: "quotes", lines: []string{"contract: | `POST /api/v1/images/quote` |"},
		elsewhere: []string{"imagegen/client.TestOverHTTP", "imagegen/engine.TestQuoteIsTheCharge",
			"imagegen/httpapi.TestQuoteIsRefused"}},
	{name: "waiting for an end", lines: []string{"contract: | `GET /api/v1/generations/:id` with `Prefer: wait=N` |"},
		elsewhere: []string{"imagegen/client.TestOverHTTP", "imagegen/engine.TestAwaitOfAnotherHost",
			"imagegen/engine.TestAwaitEnds", "imagegen/engine.TestAwaitDoesNotPoll",
			"imagegen/httpapi.TestPreferWait"}},
	{name: "usage", lines: []string{"contract: | `GET /api/v1/usage?from=&to=&group_by=` |"},
		elsewhere: []string{"imagegen/client.TestOverHTTP", "imagegen/storage.TestCreditAdmin",
			"imagegen/httpapi.TestUsage", "imagegen/httpapi.TestUsageIsRefused"}},
	{name: "limits of a key", lines: []string{"contract: | key limits |"},
		elsewhere: []string{"imagegen/storage.TestJoint", "imagegen/storage/internal/ledger.TestLimitsOfDaysAndMonths",
			"imagegen/engine.TestRequestsAtOnce", "imagegen/engine.TestLimitOfCredits",
			"imagegen/httpapi.TestKeyLimits"}},
	{name: "the command for usage", lines: []string{"contract: | `usage --user NAME"},
		elsewhere: []string{"cmd/imagegend/internal/adminserver.TestKeys",
			"cmd/imagegend/internal/cli.TestEveryCommandHasAnExample"}},
	{name: "totals for operators", lines: []string{"contract: | `usage --all", "contract: | `credit-value: 0.01`"},
		elsewhere: []string{"cmd/imagegend.TestTotals", "cmd/imagegend/internal/config.TestWrongValues",
			"cmd/imagegend/internal/cli.TestWrongUsage"}},
}
