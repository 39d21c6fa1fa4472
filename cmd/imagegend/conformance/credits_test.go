package conformance_test

import (
	"net/http"
	"testing"
)

var creditChecks = []check{
	{
		name: "the balance",
		lines: []string{
			"spec: Reports the credit balance of the user that owns the API key.",
			"spec: | GET | /api/v1/credits | Bearer |",
			"spec: - Request: no body.",
			"spec: Response: the balance, the account type",
			"spec: Allowed values of `account_type` beyond one",
			"contract: `GET /api/v1/credits` 200:",
			"contract: `next_expiration`: null, or",
		},
		run: checkBalance,
	},
	{
		name: "the credits that expire first",
		lines: []string{
			"spec: Response: the balance, the account type",
			"spec: Allowed values of `account_type` beyond one",
			"contract: `next_expiration`: null, or",
		},
		elsewhere: []string{"imagegen/storage/internal/ledger.TestExpiry", "imagegen/httpapi.TestBodies"},
	},
	{
		name:  "the ledger's time",
		lines: []string{"contract: | the ledger's time |"},
		elsewhere: []string{"imagegen/storage/internal/ledger.TestClockLeapsAhead",
			"imagegen/storage/internal/ledger.TestClockIsRemembered"},
	},
}

func checkBalance(t *testing.T, s *service) {
	a := s.account(t, 0)
	balance := func(credits int, accountType string) object {
		return object{"object": "balance", "balance": object{"credits": credits, "account_type": accountType,
			"next_expiration": nil}}
	}
	read := func() object {
		return a.get(t, "/api/v1/credits").is(t, http.StatusOK).has(t, "Content-Type", "application/json",
			"Cache-Control", "no-store").object(t)
	}
	same(t, read(), balance(0, "FREE"))
	s.grant(t, a.user, 41, 0)
	s.setAccountType(t, a.user, "PRO")
	same(t, read(), balance(41, "PRO"))
	s.setAccountType(t, a.user, "TEAM_2")
	same(t, read(), balance(41, "TEAM_2"))
	s.account(t, 1000) // another user's credits are not counted
	same(t, read(), balance(41, "TEAM_2"))
}
