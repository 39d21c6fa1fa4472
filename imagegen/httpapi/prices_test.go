package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

// The list of models has the prices for the account type of the key; for no key, or one that cannot be used, those of
// the default type. A price that is lowered for one type is in nobody else's list.
func TestModelsByAccountType(t *testing.T) {
	s := serve(t, httpapi.Options{}, func(c *engine.Config) {
		c.Models[0].Prices = []imagegen.Price{
			{AccountType: "PRO", Credits: map[imagegen.Tier]imagegen.Credits{"1K": 3}},
			{Quality: "low", Credits: map[imagegen.Tier]imagegen.Credits{"1K": 4}}}
		c.Models[0].Credits = map[imagegen.Tier]imagegen.Credits{"1K": 5}
	})
	u, err := s.Accounts().CreateUser(t.Context(), "pro", "PRO")
	s.is.NoErr(err)
	pro, _, err := s.Accounts().MintKey(t.Context(), u.ID, "test", time.Time{})
	s.is.NoErr(err)
	revoked, k, err := s.Accounts().MintKey(t.Context(), u.ID, "test", time.Time{})
	s.is.NoErr(err)
	_, err = s.Accounts().RevokeKey(t.Context(), k.ID)
	s.is.NoErr(err)
	const low, last, first = `{"effort":"low","credits":{"1K":4}}`, `{"credits":{"1K":5}}`, `{"credits":{"1K":3}}`
	for name, c := range map[string]struct {
		authorization, prices, cacheControl string
		credits                             int
	}{
		"none":    {"-", low + "," + last, "no-cache", 5},
		"default": {"Bearer " + s.key, low + "," + last, "private, no-cache", 5},
		"PRO":     {"Bearer " + pro.Reveal(), first, "private, no-cache", 3},
		"revoked": {"Bearer " + revoked.Reveal(), low + "," + last, "private, no-cache", 5},
		"no key":  {"Bearer x", low + "," + last, "private, no-cache", 5},
		"scheme":  {"Basic eDp5", low + "," + last, "private, no-cache", 5},
	} {
		for range 2 { // the second time from the cache
			a := s.do("GET", "/api/v1/models", "", "Authorization", c.authorization)
			s.is.Equal(a.StatusCode, http.StatusOK)
			s.is.Equal(a.Header.Get("Vary"), "Authorization")
			s.is.Equal(a.Header.Get("Cache-Control"), c.cacheControl)
			if want := fmt.Sprintf(`"credits":{"1K":%d},"prices":[%s],"default_options"`, c.credits,
				c.prices); !strings.Contains(a.body, want) {
				t.Errorf("%s: %s lacks %s", name, a.body, want)
			}
		}
	}
}

// What a function Price returns for one user is in no other user's list.
func TestModelsByUser(t *testing.T) {
	s := serve(t, httpapi.Options{}, func(c *engine.Config) {
		c.Models[0].Price = func(_ context.Context, o engine.Order) (imagegen.Credits, error) {
			return imagegen.Credits(1 + len(o.User)), nil
		}
	})
	for authorization, credits := range map[string]string{"-": "1", "Bearer " + s.key: "6",
		"Bearer " + s.Key(t, imagegentest.Bob): "4"} {
		a := s.do("GET", "/api/v1/models", "", "Authorization", authorization)
		s.is.True(strings.Contains(a.body, `"credits":{"1K":`+credits+`,"2K":`+credits)) // a.body
		s.is.True(strings.Contains(a.body, `"price_varies":true`))
	}
}

// max_credits is taken as a number in JSON, as a text in forms, and refused in any other form.
func TestMaxCredits(t *testing.T) {
	s := serve(t, httpapi.Options{})
	for _, more := range []string{`,"max_credits":0`, `,"max_credits":-1`, `,"max_credits":1.5`, `,"max_credits":"3"`,
		`,"max_credits":9007199254740992`, `,"max_credits":99999999999999999999`} {
		message := s.refused(s.post(fox(more)), http.StatusBadRequest, imagegen.CodeInvalidRequest)
		s.is.True(strings.Contains(message, "max_credits must be"))
	}
	message := s.refused(s.post(fox(`,"n":4,"max_credits":3`)), http.StatusBadRequest, imagegen.CodeInvalidRequest)
	s.is.Equal(message, "this request costs 4 credits, which is more than its max_credits of 3; nothing was charged")
	s.untouched()
	s.is.Equal(s.post(fox(`,"n":4,"max_credits":4`)).StatusCode, http.StatusOK)
	a := s.quote(fox(`,"n":4,"max_credits":1`))
	s.is.Equal(a.StatusCode, http.StatusOK)
}

// A quote with a mask is priced with it, as the list of models says.
func TestQuoteWithAMask(t *testing.T) {
	s := serve(t, httpapi.Options{}, func(c *engine.Config) { c.Models = []engine.Model{imagegentest.Priced()} })
	listed := s.do("GET", "/api/v1/models", "").body
	for _, want := range []string{`{"mask":true,"credits":{"1K":7}}`, `"reference_credits":1`,
		`{"effort":"high","min_references":2,"credits":{"1K":9,"2K":11},"reference_credits":0}`} {
		s.is.True(strings.Contains(listed, want)) // listed
	}
	for more, price := range map[string]string{
		`,"reference_count":1,"mask":true`:  `"price":8,"credits":8`,
		`,"reference_count":1,"mask":false`: `"price":3,"credits":3`,
		`,"reference_count":1,"mask":null`:  `"price":3,"credits":3`,
	} {
		a := s.quote(fox(more))
		if a.StatusCode != http.StatusOK || !strings.Contains(a.body, price) ||
			!strings.Contains(a.body, `"reference_credits":1`) {
			t.Errorf("%s: %s", more, a.body)
		}
	}
}
