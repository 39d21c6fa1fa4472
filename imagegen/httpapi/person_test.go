package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
	"github.com/imagegend/imagegend/imagegen/internal/wire"
)

// class is a site whose key is on behalf of the people of a school that has 20 credits.
func class(t *testing.T, o httpapi.Options, each imagegen.KeyLimits) *site {
	t.Helper()
	s := serve(t, o)
	school, err := s.Accounts().CreateUser(t.Context(), "school", "")
	s.is.NoErr(err)
	s.Grant(t, school.ID, 20)
	raw, _, err := s.Accounts().MintMembersKey(t.Context(), school.ID, "chat", time.Time{}, 30, each)
	s.is.NoErr(err)
	s.key = raw.Reveal()
	return s
}

// Two people behind one chat interface, as it sends their requests: each sees and pays their own, up to their limit.
func TestPeopleBehindOneKey(t *testing.T) {
	s := class(t, httpapi.Options{}, imagegen.KeyLimits{Credits: 2})
	zoe := []string{"X-OpenWebUI-User-Id", "7b1c", "X-OpenWebUI-User-Email", "zoe@school.example"}
	ann := []string{"X-OpenWebUI-User-Id", "9f00", "X-OpenWebUI-User-Email", "ann@school.example"}

	s.is.Equal(s.do("GET", "/api/v1/models", "").StatusCode, http.StatusOK) // the set-up page, which names nobody
	s.is.Equal(s.do("GET", "/api/v1/credits", "").StatusCode, http.StatusOK)
	g := s.accepted(s.post(fox(""), zoe...), http.StatusOK)
	path := "/api/v1/generations/" + string(g.ID)
	s.is.Equal(s.do("GET", path, "", zoe...).StatusCode, http.StatusOK)
	s.is.Equal(s.do("GET", path, "", ann...).StatusCode, http.StatusNotFound)
	s.refused(s.do("GET", path, ""), http.StatusBadRequest, imagegen.CodeInvalidRequest)
	s.refused(s.do("GET", "/api/v1/generations", ""), http.StatusBadRequest, imagegen.CodeInvalidRequest)
	message := s.refused(s.post(fox(""), "X-Other", "zoe"), http.StatusBadRequest, imagegen.CodeInvalidRequest)
	s.is.True(strings.Contains(message, "X-OpenWebUI-User-Id"))

	s.accepted(s.post(fox(""), zoe...), http.StatusOK)
	message = s.refused(s.post(fox(""), zoe...), http.StatusPaymentRequired, imagegen.CodeInsufficientCredits)
	s.is.True(strings.Contains(message, "your account is limited to 2 credits in all"))
	s.accepted(s.post(fox(""), ann...), http.StatusOK)

	twice := s.request("POST", wire.GeneratePath, strings.NewReader(fox("")), zoe...)
	twice.Header.Add("X-OpenWebUI-User-Id", "9f00")
	s.refused(s.send(twice), http.StatusBadRequest, imagegen.CodeInvalidRequest)
	s.refused(s.post(fox(`,"user":"9f00"`), zoe...), http.StatusBadRequest, imagegen.CodeInvalidRequest)
	s.accepted(s.post(fox(`,"user":"9f00"`)), http.StatusOK) // by the field
	users, err := s.Accounts().Users(t.Context())
	s.is.NoErr(err)
	var names []string
	for _, u := range users {
		if strings.HasPrefix(u.Name, "school/") {
			names = append(names, u.Name+" "+u.Display)
		}
	}
	s.is.Equal(names, []string{"school/7b1c zoe@school.example", "school/9f00 ann@school.example"})
}

// The owner of a key sees what each person used, and a person only what it used itself.
func TestUsageByMember(t *testing.T) {
	s := class(t, httpapi.Options{}, imagegen.KeyLimits{})
	zoe := []string{"X-OpenWebUI-User-Id", "zoe"}
	s.accepted(s.post(fox(""), zoe...), http.StatusOK)
	s.accepted(s.post(fox(`,"n":2`), "X-OpenWebUI-User-Id", "ann"), http.StatusOK)
	s.accepted(s.post(fox(""), "X-OpenWebUI-User-Id", "bob"), http.StatusOK)
	var report struct {
		Data []struct {
			Member string `json:"member"`
			Spent  int    `json:"credits_spent"`
		} `json:"data"`
	}
	s.decoded(s.do("GET", wire.UsagePath+"?group_by=member", ""), &report)
	var members []string // by name
	for _, row := range report.Data {
		members = append(members, fmt.Sprint(row.Member, " ", row.Spent))
	}
	s.is.Equal(members, []string{"school/ann 2", "school/bob 1", "school/zoe 1"})
	table := s.do("GET", wire.UsagePath+"?group_by=member", "", "Accept", "text/csv").body
	s.is.True(strings.Contains(table, ",cancelled,member\n") && strings.Contains(table, ",0,school/zoe\n"))
	report.Data = nil
	s.decoded(s.do("GET", wire.UsagePath, "", zoe...), &report)
	s.is.Equal(len(report.Data), 1)
	s.is.Equal(report.Data[0].Spent, 1)
	ann, err := s.Accounts().UserByName(t.Context(), "school/ann")
	s.is.NoErr(err)
	s.is.NoErr(s.SetSponsor(t.Context(), ann.ID, "", imagegen.KeyLimits{})) // what was used stays in the sums
	s.decoded(s.do("GET", wire.UsagePath+"?group_by=member", ""), &report)
	s.is.Equal(report.Data[0].Member, "school/ann")
	s.is.Equal(report.Data[0].Spent, 2)
	s.refused(s.do("GET", wire.UsagePath+"?group_by=member,key", ""), http.StatusBadRequest,
		imagegen.CodeInvalidRequest)
}

// An operator names other headers; the field user stays without effect for keys of one user.
func TestPersonHeaders(t *testing.T) {
	s := class(t, httpapi.Options{PersonHeaders: []string{"X-Pupil"}}, imagegen.KeyLimits{})
	s.refused(s.post(fox(""), "X-OpenWebUI-User-Id", "zoe"), http.StatusBadRequest, imagegen.CodeInvalidRequest)
	g := s.accepted(s.post(fox(""), "X-Pupil", "zoe"), http.StatusOK)
	s.is.Equal(s.do("GET", "/api/v1/generations/"+string(g.ID), "", "X-Pupil", "zoe").StatusCode, http.StatusOK)
	s.key = s.Key(t, imagegentest.Alice)
	g = s.accepted(s.post(fox(`,"user":"zoe"`), "X-Pupil", "zoe"), http.StatusOK)
	s.is.Equal(s.do("GET", "/api/v1/generations/"+string(g.ID), "").StatusCode, http.StatusOK)
}

// Whatever a person who is disabled asks for is refused, and so is whatever names two people.
func TestDisabledPerson(t *testing.T) {
	s := class(t, httpapi.Options{}, imagegen.KeyLimits{})
	zoe := []string{"X-OpenWebUI-User-Id", "zoe"}
	path := "/api/v1/generations/" + string(s.accepted(s.post(fox(""), zoe...), http.StatusOK).ID)
	u, err := s.Accounts().UserByName(t.Context(), "school/zoe")
	s.is.NoErr(err)
	s.is.NoErr(s.Accounts().DisableUser(t.Context(), u.ID))
	for _, a := range []answer{s.post(fox(""), zoe...), s.quote(fox(""), zoe...), s.do("GET", path, "", zoe...),
		s.do("GET", "/api/v1/generations", "", zoe...), s.do("POST", path+"/cancel", "", zoe...),
		s.do("GET", wire.UsagePath, "", zoe...), s.do("GET", "/api/v1/credits", "", zoe...)} {
		message := s.refused(a, http.StatusForbidden, imagegen.CodeChargeRefused)
		s.is.True(strings.Contains(message, `"zoe" is disabled`))
	}
	twice := s.request("GET", "/api/v1/credits", nil, zoe...)
	twice.Header.Add("X-OpenWebUI-User-Id", "ann")
	s.refused(s.send(twice), http.StatusBadRequest, imagegen.CodeInvalidRequest)
}

// An identifier that is there but empty is not replaced by the name for display.
func TestEmptyPersonHeader(t *testing.T) {
	s := class(t, httpapi.Options{}, imagegen.KeyLimits{})
	s.refused(s.post(fox(""), "X-OpenWebUI-User-Id", "", "X-OpenWebUI-User-Email", "zoe@school.example"),
		http.StatusBadRequest, imagegen.CodeInvalidRequest)
}
