package adminserver_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/adminserver"
	"github.com/imagegend/imagegend/imagegen/client/admin"
)

// programs answers operators' programs, whatever their key.
func programs(l *adminserver.Local) http.Handler { return allowing(l, "all") }

// ask sends a call as a program does, and returns status and body.
func ask(h http.Handler, name, body string) (status int, said string) {
	r := httptest.NewRequest(http.MethodPost, adminserver.OpsPath+name, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer img_ops_x")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// A program can go over each list, also one without elements.
func TestAnEmptyListIsNoNull(t *testing.T) {
	local := open(t, t.TempDir())
	h := programs(local)
	status, said := ask(h, "users", "{}")
	is.New(t).Equal(status, http.StatusOK)
	is.New(t).Equal(said, "[]\n")
	everywhere := `{"user":"","status":"","limit":9}`
	_, said = ask(h, "generations", everywhere)
	is.New(t).Equal(said, "[]\n") // without a user
	_, err := admin.CreateUser.Do(t.Context(), local, admin.NewUser{Name: "alice"})
	is.New(t).NoErr(err)
	for _, test := range []struct{ call, body, want string }{
		{"generations", everywhere, "[]\n"},
		{"generations", `{"user":"alice","limit":9}`, "[]\n"},
		{"keys", `"alice"`, "[]\n"},
		{"lots", `"alice"`, "[]\n"},
		{"history", `{"user":"alice","limit":9}`, "[]\n"},
		{"disputes", "{}", "[]\n"},
		{"trail", `{"act":"clock","limit":9}`, `"rows":[]`},
		{"events", `{"after":7}`, `"events":[],"next":7`},
		{"usage", `{"user":"alice"}`, `"group_by":[],"data":[]`},
		{"totals", "{}", `"group_by":[],"currency":"","credit_value":"0.00","data":[]`},
		{"audit", "{}", `"Violations":[]`},
		{"readiness", "{}", `"reasons":[],"warnings":[]`},
	} {
		t.Run(test.call, func(t *testing.T) {
			status, said := ask(h, test.call, test.body)
			is.New(t).Equal(status, http.StatusOK)
			if !strings.Contains(said, test.want) {
				t.Errorf("%q has no %q", said, test.want)
			}
		})
	}
}

// A list of less than one element is a mistake of the program's.
func TestALimitIsAtLeastOne(t *testing.T) {
	local := open(t, t.TempDir())
	_, err := admin.CreateUser.Do(t.Context(), local, admin.NewUser{Name: "alice", Credits: 5})
	is.New(t).NoErr(err)
	h := programs(local)
	for _, call := range []string{"generations", "history", "trail"} {
		for _, limit := range []int{-1, 0} {
			user := `"user":"alice",`
			if call == "trail" {
				user = ""
			}
			status, said := ask(h, call, fmt.Sprintf(`{%s"limit":%d}`, user, limit))
			if status != http.StatusBadRequest || !strings.Contains(said, fmt.Sprintf("got %d", limit)) {
				t.Errorf("%s, limit %d: %d %s", call, limit, status, said)
			}
		}
	}
	status, said := ask(h, "generations", `{"user":"","status":"","limit":-1}`)
	is.New(t).Equal(status, http.StatusBadRequest)
	is.New(t).True(strings.Contains(said, "limit is at least 1; got -1"))
}
