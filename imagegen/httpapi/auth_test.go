package httpapi_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen/engine"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

func TestAuthorization(t *testing.T) {
	now := time.Now()
	s := serve(t, httpapi.Options{}, func(c *engine.Config) { c.Now = func() time.Time { return now } })
	mint := func(u imagegen.UserID, expires time.Time) (string, imagegen.Key) {
		raw, k, err := s.Accounts().MintKey(t.Context(), u, "", expires)
		s.is.NoErr(err)
		return raw.Reveal(), k
	}
	revoke := func(k imagegen.Key) {
		_, err := s.Accounts().RevokeKey(t.Context(), k.ID)
		s.is.NoErr(err)
	}
	expired, _ := mint(imagegentest.Alice, now.Add(time.Hour))
	both, bothKey := mint(imagegentest.Alice, now.Add(time.Hour))
	revoked, revokedKey := mint(imagegentest.Alice, time.Time{})
	later, _ := mint(imagegentest.Alice, now.Add(2*time.Hour))
	carol, err := s.Accounts().CreateUser(t.Context(), "carol", "")
	s.is.NoErr(err)
	disabled, _ := mint(carol.ID, time.Time{})
	s.is.NoErr(s.Accounts().DisableUser(t.Context(), carol.ID))
	revoke(bothKey)
	s.is.Equal(s.do("GET", "/api/v1/credits", "", "Authorization", "Bearer "+revoked).StatusCode, http.StatusOK)
	revoke(revokedKey)
	now = now.Add(time.Hour)

	for _, c := range []struct {
		header string
		code   imagegen.Code // "": authenticated
	}{
		{"-", imagegen.CodeMissingKey},
		{"", imagegen.CodeMissingKey},
		{"  ", imagegen.CodeMissingKey},
		{"Bearer", imagegen.CodeInvalidKey},
		{"Bearer ", imagegen.CodeInvalidKey},
		{"Basic dXNlcjpwYXNz", imagegen.CodeInvalidKey},
		{s.key, imagegen.CodeInvalidKey},
		{"Bearer" + s.key, imagegen.CodeInvalidKey},
		{"Bearer " + s.key[:len(s.key)-1], imagegen.CodeInvalidKey},
		{"Bearer " + s.key + "x", imagegen.CodeInvalidKey},
		{"Bearer " + s.key + " x", imagegen.CodeInvalidKey},
		{"Bearer " + s.key + ", Bearer " + s.key, imagegen.CodeInvalidKey},
		{"Bearer " + strings.ToUpper(s.key), imagegen.CodeInvalidKey},
		{"Bearer img_live_" + strings.Repeat("0", 49), imagegen.CodeInvalidKey},
		{"Bearer " + revoked, imagegen.CodeInvalidKey},
		{"Bearer " + disabled, imagegen.CodeInvalidKey},
		{"Bearer " + both, imagegen.CodeInvalidKey}, // revoked wins
		{"Bearer " + expired, imagegen.CodeExpiredKey},
		{"Bearer " + later, ""},
		{"Bearer " + s.key, ""},
		{"bEARER   " + s.key, ""},
	} {
		for _, path := range []string{"/api/v1/credits", "/api/v1/generations"} {
			a := s.do("GET", path, "", "Authorization", c.header)
			if c.code == "" {
				s.is.Equal(a.StatusCode, http.StatusOK)
				continue
			}
			s.refused(a, http.StatusUnauthorized, c.code)
			s.is.Equal(a.Header.Get("WWW-Authenticate"), "Bearer")
		}
	}
}

func TestTwoAuthorizations(t *testing.T) {
	s := serve(t, httpapi.Options{})
	r, err := http.NewRequestWithContext(t.Context(), "GET", s.server.URL+"/api/v1/credits", nil)
	s.is.NoErr(err)
	r.Header["Authorization"] = []string{"Bearer " + s.key, "Bearer " + s.key}
	a := s.send(r)
	s.refused(a, http.StatusUnauthorized, imagegen.CodeInvalidKey)
	s.is.True(strings.Contains(a.body, "sent twice"))
}

// Who sends a key in the wrong way is not told that it does not exist.
func TestUnreadableAuthorization(t *testing.T) {
	s := serve(t, httpapi.Options{})
	for _, header := range []string{s.key, "Basic " + s.key, "Bearer"} {
		a := s.do("GET", "/api/v1/credits", "", "Authorization", header)
		s.refused(a, http.StatusUnauthorized, imagegen.CodeInvalidKey)
		s.is.True(strings.Contains(a.body, "Bearer "))
		s.is.True(!strings.Contains(a.body, s.key))
	}
}

func TestWithoutKey(t *testing.T) {
	s := serve(t, httpapi.Options{})
	for path, status := range map[string]int{"/api/v1/models": 200, "/healthz": 200, "/readyz": 200, "/images/image_1": 404,
		"/api/v1/credits": 401, "/api/v1/generations": 401, "/api/v1/generations/gen_1": 401} {
		s.is.Equal(s.do("GET", path, "", "Authorization", "-").StatusCode, status)
	}
}

// The order of checks: 404 and 405 (see TestMethods), the key, the request, the credits.
func TestOrderOfChecks(t *testing.T) {
	s := serve(t, httpapi.Options{})
	invalid := `{"model":"fake-2","n":9}`
	s.refused(s.post(invalid, "Authorization", "-"), http.StatusUnauthorized, imagegen.CodeMissingKey)
	s.refused(s.do("GET", "/api/v1/generations?limit=x", "", "Authorization", "-"), http.StatusUnauthorized, imagegen.CodeMissingKey)

	poor := "Bearer " + s.Key(t, "nobody")
	s.refused(s.post(invalid, "Authorization", poor), http.StatusBadRequest, imagegen.CodeInvalidRequest)
	s.refused(s.post(fox(""), "Authorization", poor), http.StatusPaymentRequired, imagegen.CodeInsufficientCredits)
	s.refused(s.post(fox(`,"async":true`), "Authorization", poor), http.StatusPaymentRequired, imagegen.CodeInsufficientCredits)
}

// The key is checked before the body is read: nothing of it need be sent.
func TestKeyBeforeBody(t *testing.T) {
	s := serve(t, httpapi.Options{})
	sent := &bytes.Buffer{}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.server.URL+generations, nil)
	s.is.NoErr(err)
	r.Body = readerFunc(func([]byte) (int, error) { sent.WriteByte('x'); return 0, http.ErrBodyNotAllowed })
	r.ContentLength = 100
	r.Header.Set("Authorization", "Bearer nonsense")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Expect", "100-continue") // so that a server which reads says so
	patient := http.DefaultTransport.(*http.Transport).Clone()
	patient.ExpectContinueTimeout = time.Minute
	defer patient.CloseIdleConnections()
	a, err := patient.RoundTrip(r)
	s.is.NoErr(err)
	a.Body.Close()
	s.is.Equal(a.StatusCode, http.StatusUnauthorized)
	s.is.Equal(sent.Len(), 0)
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
func (readerFunc) Close() error                 { return nil }
