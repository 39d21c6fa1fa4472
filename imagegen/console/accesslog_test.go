package console_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console"
)

// Each request has a line in the log that names user and generation, and holds no link.
func TestAccessLog(t *testing.T) {
	var log bytes.Buffer
	s := open(t, func(c *console.Config) {
		c.Log = slog.New(slog.NewJSONHandler(&log, nil))
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	})
	alice := s.signedIn("alice")
	s.Running.Grant(t, alice.user.ID, 5)
	g, err := s.As(alice.user.ID).Generate(t.Context(), imagegen.GenerateRequest{Model: "fake-1", Prompt: "a canary"})
	s.is.NoErr(err)
	link := s.invite(s.newcomer("bob"), account.RoleUser)
	for _, path := range []string{"generations/" + string(g.ID), "images/" + string(g.Images[0].ID), link,
		"nowhere/secret", ""} {
		alice.get(path, "X-Forwarded-For", "203.0.113.9")
	}
	alice.get("generations/"+string(g.ID)+"/live?seen=queued", "HX-Request", "true") // asks again and again
	file := static.FindStringSubmatch(alice.follow(alice.get("")).body)[1]
	s.is.Equal(alice.get(file).StatusCode, http.StatusOK) // of no interest
	s.visitor().get("account")
	var got []string
	for line := range strings.Lines(log.String()) {
		var m struct {
			Msg, Method, Route, Address string
			Status                      int
			Bytes                       int
			Took                        *float64 `json:"duration_ms"`
			User                        string   `json:"user_id"`
			Generation                  string   `json:"generation_id"`
		}
		s.is.NoErr(json.Unmarshal([]byte(line), &m))
		s.is.Equal(m.Msg, "request")
		s.is.True(m.Took != nil && *m.Took >= 0)
		s.is.True(m.Status != 200 || m.Bytes > 0)
		got = append(got, strings.Join([]string{m.Method, m.Route, m.Address, m.User, m.Generation}, " "))
	}
	who := " 203.0.113.9 " + string(alice.user.ID) + " "
	near := " 192.0.2.1 " + string(alice.user.ID) + " "
	s.is.Equal(cmp.Diff([]string{
		"GET /console/generations/{generation}" + who + string(g.ID),
		"GET /console/images/{image}" + who + string(g.ID),
		"GET /console/invitation/{token}" + who,
		"GET " + who,
		"GET /console/" + who,
		"GET /console/" + near,
		"GET /console/playground" + near,
		"GET /console/account 192.0.2.1  ",
	}, got), "")
	for _, secret := range []string{"canary", "secret", strings.TrimPrefix(link, "invitation/"),
		string(g.Images[0].ID)} {
		s.is.True(!strings.Contains(log.String(), secret))
	}
}
