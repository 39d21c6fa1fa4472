package conformance_test

import (
	"net/http"
	"net/url"
	"path"
	"strings"
	"testing"

	"github.com/matryer/is"
)

var ownershipChecks = []check{
	{
		name: "another user's generation is not there",
		lines: []string{
			"spec: Ownership: an API key can read only generations",
			"spec: A generation owned by another user, or an unknown id",
			"spec: 4. A key belongs to a user;",
			"spec: | 404 | notFound |",
			"contract: | another user's generation, unknown id, malformed id |",
			listLine,
		},
		run: checkOwnership,
	},
}

func checkOwnership(t *testing.T, s *service) {
	is := is.New(t)
	owner, other := s.account(t, 10), s.account(t, 10)
	theirs := owner.generated(t, nil)["id"].(string)
	hanging := owner.queued(t, object{"prompt": "[fake:delay=300ms]"})["id"].(string)
	failed := owner.post(t, fox(object{"prompt": "[fake:fail]"})).header.Get("Location")
	var first answer
	for i, id := range []string{
		theirs, hanging, path.Base(failed),
		"gen_01KAJ1V5W8Z0M5QY7GJ7T9C2RE", "gen_ZZZZZZZZZZZZZZZZZZZZZZZZZZ",
		"gen_", "nope", "1", "image_1", theirs[:len(theirs)-1], theirs + "0", "GEN" + theirs[3:], "%00", "..", "%2e%2e",
		"gen_%20", "%ff", "a%2Fb", url.PathEscape("' OR 1=1 --"), url.PathEscape("🦊"), strings.Repeat("g", 5000),
	} {
		got := other.get(t, "/api/v1/generations/"+id).refused(t, http.StatusNotFound, "notFound")
		got.header.Del("Date")
		got.header.Del("X-Request-Id")
		if i == 0 {
			first = got
		}
		is.Equal(string(got.body), string(first.body))
		same(t, got.header, first.header)
	}
	same(t, other.list(t, "")["data"], []any{})
	same(t, other.list(t, "?after="+theirs)["data"], []any{}) // a place in the list is not secret, what is there is
	same(t, owner.generation(t, theirs)["id"], theirs)
	owner.ended(t, hanging)
}
