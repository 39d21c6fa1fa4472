package openai_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi/openai"
)

// With a key on behalf of people, the field user or a header names who asks, and each pays within limits of their own.
func TestPeopleBehindOneKey(t *testing.T) {
	s := serve(t, openai.Options{})
	ctx := t.Context()
	school, err := s.Accounts().CreateUser(ctx, "school", "")
	s.is.NoErr(err)
	s.Grant(t, school.ID, 20)
	raw, _, err := s.Accounts().MintMembersKey(ctx, school.ID, "chat", time.Time{}, 30, imagegen.KeyLimits{Credits: 2})
	s.is.NoErr(err)
	s.key = raw.Reveal()
	zoe := []string{"X-OpenWebUI-User-Id", "zoe"}
	says := func(a answer, status int, words string) {
		t.Helper()
		s.is.Equal(a.StatusCode, status)
		s.is.True(strings.Contains(a.body, words))
	}

	says(s.do("GET", "/v1/models", nil), http.StatusOK, "fake-1") // the set-up page, which names nobody
	says(s.post(generations, fox("")), http.StatusBadRequest, "X-OpenWebUI-User-Id")
	says(s.post(generations, fox(`,"user":"zoe"`)), http.StatusOK, `"credits":1`)
	says(s.post(generations, fox(`,"user":"zoe"`), zoe...), http.StatusOK, `"credits":1`)
	says(s.post(generations, fox(""), zoe...), http.StatusPaymentRequired, "your account is limited to 2 credits")
	says(s.post(generations, fox(`,"user":"ann"`)), http.StatusOK, `"credits":1`)
	says(s.post(generations, fox(`,"user":"ann"`), zoe...), http.StatusBadRequest, "names another person")
	says(s.do("GET", "/v1/models", nil, "X-OpenWebUI-User-Id", strings.Repeat("x", 129)), http.StatusBadRequest,
		"128 bytes")
	says(s.do("GET", "/v1/models/fake-1", nil, "X-OpenWebUI-User-Id", strings.Repeat("x", 129)),
		http.StatusBadRequest, "128 bytes")

	u, err := s.Accounts().UserByName(ctx, "school/zoe")
	s.is.NoErr(err)
	s.is.NoErr(s.Accounts().DisableUser(ctx, u.ID))
	for _, a := range []answer{s.post(generations, fox(""), zoe...), s.do("GET", "/v1/models", nil, zoe...),
		s.do("GET", "/v1/models/fake-1", nil, zoe...)} {
		says(a, http.StatusForbidden, "is disabled")
	}
}
