package conformance_test

import (
	"net/http"
	"testing"
)

var priceChecks = []check{
	{
		name: "prices",
		lines: []string{
			"contract: | `max_credits` | native,",
			"contract: `credits`: the price at `auto` without references, for the caller's account type;",
			"contract: | `credits: {1K, 2K, 4K}` of a model |",
			"contract: | `prices:` of a model |",
			"contract: | `quality` of a line |",
			"contract: | `reference_credits:` |",
			"contract: | one price |",
		},
		run: checkPrices,
		elsewhere: []string{"imagegen/engine.TestRandomPrices", "imagegen/engine.TestPricedMoney",
			"imagegen/client.TestPricesOverHTTP", "imagegen/httpapi.TestModelsByAccountType",
			"cmd/imagegend/internal/catalog.TestMistakesAreNamed", "imagegen/engine.TestPricesByPolicy",
			"imagegen/console.TestPriceIsShownFirst"},
	},
	{
		name:  "prices in Go",
		lines: []string{"contract: | prices in Go |"},
		elsewhere: []string{"imagegen/engine.TestPriceFunctionFails", "imagegen/engine.TestPriceFunctionIsAskedOnce",
			"imagegen/engine.TestPriceFunctionHangsOnce", "imagegen/engine.TestReloadUnderCallers",
			"imagegen/httpapi.TestModelsByUser"},
	},
	{
		name: "costs",
		lines: []string{
			"contract: | a cost | integer millionths",
			"contract: | where it comes from | what the answer reports:",
			"contract: | which attempts | refused before",
			"contract: | kept | in the record of the generation",
			"contract: | shown | never to callers.",
		},
		elsewhere: []string{"cmd/imagegend/internal/catalog.TestCosts", "cmd/imagegend.TestCurrencyStays",
			"imagegen/engine.TestCostOfAnAttempt",
			"imagegen/engine.TestCostOfEachAttempt", "imagegen/engine.TestCostOfAKilledAttempt",
			"imagegen/storage.TestTotals", "imagegen/console.TestEarnings",
			"imagegen/httpapi/openai.TestUsageOfTokens"},
	},
}

const pricedModel = `
models:
  - id: fake-1
    provider: {type: fake}
    credits: {1K: 5, 2K: 9}
    prices:
      - {account_type: PRO, credits: {1K: 3}}
      - {quality: low, credits: {1K: 2}}
      - {mask: true, credits: 8, reference_credits: 0}
    reference_credits: 1
    max_effort: {2K: medium}
`

// What is quoted is charged and answered: by quality, account type, references and mask, up to max_credits.
func checkPrices(t *testing.T, s *service) {
	s = s.start(t, settings{models: pricedModel})
	a, pro := s.account(t, 100), s.account(t, 100)
	s.setAccountType(t, pro.user, "PRO")
	for _, c := range []struct {
		of     *customer
		fields object
		price  int
	}{{a, nil, 5}, {a, object{"quality": "low"}, 2}, {a, object{"quality": "high"}, 5},
		{pro, object{"quality": "low"}, 3},
		{pro, nil, 3}} {
		quote := c.of.call(t, request{method: http.MethodPost, address: "/api/v1/images/quote", key: c.of.key,
			body: encode(t, fox(c.fields)), header: []string{"Content-Type", "application/json"}}).is(t,
			http.StatusOK).object(t)
		same(t, quote["credits"], c.price)
		same(t, c.of.generated(t, c.fields)["usage"], object{"credits": c.price, "credits_requested": c.price})
	}
	same(t, a.credits(t), 88)
	same(t, pro.credits(t), 94)
	for fields, price := range map[*object]int{{"reference_count": 3}: 8, {"reference_count": 3, "mask": true}: 8,
		{"reference_count": 2, "mask": true, "n": 2}: 16, {"size": "2048x2048", "reference_count": 1}: 10} {
		quote := a.call(t, request{method: http.MethodPost, address: "/api/v1/images/quote", key: a.key,
			body: encode(t, fox(*fields)), header: []string{"Content-Type", "application/json"}}).is(t,
			http.StatusOK).object(t)
		same(t, quote["credits"], price)
	}
	a.post(t, fox(object{"n": 2, "max_credits": 9})).refused(t, http.StatusBadRequest, "invalid_request",
		"costs 10 credits")
	a.post(t, fox(object{"size": "2048x2048", "quality": "high"})).refused(t, http.StatusBadRequest, "invalid_request",
		"the highest is medium")
	same(t, a.credits(t), 88)

	credits := func(key string) any {
		listing := s.call(t, request{address: "/api/v1/models", key: key}).is(t, http.StatusOK)
		return listing.object(t)["data"].([]any)[0].(object)["credits"]
	}
	same(t, credits(a.key), object{"1K": 5, "2K": 9})
	same(t, credits(pro.key), object{"1K": 3, "2K": 9})
	same(t, credits("nonsense"), object{"1K": 5, "2K": 9})
	s.call(t, request{address: "/api/v1/models", key: pro.key}).has(t, "Vary", "Authorization", "Cache-Control",
		"private, no-cache")
}
