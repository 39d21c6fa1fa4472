package conformance_test

import (
	"net/http"
	"testing"
	"time"
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
		run: checkNextExpiration,
	},
	{
		name:      "the ledger's time",
		lines:     []string{"contract: | the ledger's time |"},
		elsewhere: []string{"imagegen/storage/internal/ledger.TestClockLeapsAhead", "imagegen/storage/internal/ledger.TestClockIsRemembered"},
	},
}

func checkBalance(t *testing.T, s *service) {
	a := s.account(t, 0)
	balance := func(credits int, accountType string) object {
		return object{"object": "balance", "balance": object{"credits": credits, "account_type": accountType, "next_expiration": nil}}
	}
	read := func() object {
		return a.get(t, "/api/v1/credits").is(t, http.StatusOK).has(t, "Content-Type", "application/json", "Cache-Control", "no-store").object(t)
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

func checkNextExpiration(t *testing.T, s *service) {
	a := s.account(t, 5)
	next := func() any { return a.get(t, "/api/v1/credits").object(t)["balance"].(object)["next_expiration"] }
	began := time.Now()
	s.grant(t, a.user, 7, 1000*time.Hour)
	s.grant(t, a.user, 40, 100*time.Hour)
	same(t, next(), object{"credits": 40, "expires_at": timestamp})
	expires, err := time.Parse(timeForm, next().(object)["expires_at"].(string))
	if err != nil || expires.Before(began.Add(100*time.Hour-time.Second)) || expires.After(time.Now().Add(100*time.Hour)) {
		t.Errorf("they expire at %v: %v", expires, err)
	}
	s.grant(t, a.user, 3, 4*time.Second)
	eventually(t, "the credits that expire first have expired", func() bool { return a.credits(t) == 52 })
	same(t, next(), object{"credits": 40, "expires_at": timestamp})
	a.generated(t, object{"n": 4}) // takes of those that expire first
	same(t, next(), object{"credits": 36, "expires_at": timestamp})
}
