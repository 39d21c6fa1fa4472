package httpapi_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

// byCookie is the sign-in of a host: the cookie names the user.
func byCookie(r *http.Request) (engine.Caller, error) {
	c, err := r.Cookie("user")
	if err != nil {
		return engine.Caller{}, imagegen.ErrMissingKey
	}
	return engine.Caller{User: imagegen.UserID(c.Value), Name: c.Value}, nil
}

// Whom the host has signed in needs no key, on every route. A key counts where there is one.
func TestSignInOfTheHost(t *testing.T) {
	s := serve(t, httpapi.Options{Authenticate: byCookie})
	cookie := []string{"Authorization", "-", "Cookie", "user=bob"}
	g := s.accepted(s.post(fox(""), cookie...), http.StatusOK)
	var balance struct{ Balance struct{ Credits int } }
	s.decoded(s.do(http.MethodGet, "/api/v1/credits", "", cookie...), &balance)
	s.is.Equal(balance.Balance.Credits, 2)
	s.is.Equal(s.do(http.MethodGet, "/api/v1/generations/"+g.ID, "", cookie...).StatusCode, http.StatusOK)

	byKey := s.do(http.MethodGet, "/api/v1/generations/"+g.ID, "", "Cookie", "user=bob") // and Alice's key
	s.refused(byKey, http.StatusNotFound, imagegen.CodeNotFound)
	s.refused(s.post(fox(""), "Authorization", "-"), http.StatusUnauthorized, imagegen.CodeMissingKey)
	s.refused(s.post(fox(""), "Authorization", "Bearer wrong", "Cookie", "user=bob"), http.StatusUnauthorized,
		imagegen.CodeInvalidKey)

	models := s.do(http.MethodGet, "/api/v1/models", "", "Authorization", "-")
	s.is.Equal(models.StatusCode, http.StatusOK) // it needs neither
	s.is.True(slices.Contains(models.Header.Values("Vary"), "Cookie"))
	s.is.Equal(models.Header.Get("Cache-Control"), "private, no-cache")
}

// A page of another site cannot use somebody's sign-in, also one whose origin may call with keys.
func TestForgedRequests(t *testing.T) {
	asked := false
	s := serve(t, httpapi.Options{BaseURL: "https://images.example.com",
		CORSOrigins: []string{"https://app.example.com"},
		Authenticate: func(r *http.Request) (engine.Caller, error) {
			asked = true
			return byCookie(r)
		}})
	for name, from := range map[string][]string{
		"another site":             {"Sec-Fetch-Site", "cross-site"},
		"another host of ours":     {"Sec-Fetch-Site", "same-site"},
		"an older browser":         {"Origin", "https://evil.example"},
		"an origin with CORS":      {"Origin", "https://app.example.com", "Sec-Fetch-Site", "cross-site"},
		"a blank key":              {"Origin", "https://evil.example", "Authorization", " "},
		"a page without an origin": {"Origin", "null"},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			asked = false
			headers := append([]string{"Authorization", "-", "Cookie", "user=bob"}, from...)
			a := s.post(fox(""), headers...)
			s.refused(a, http.StatusUnauthorized, imagegen.CodeMissingKey)
			is.True(!asked)
			is.Equal(a.Header.Get("Access-Control-Allow-Credentials"), "") // so no script can read with cookies either
			balance, err := s.As(imagegentest.Bob).Balance(t.Context())
			is.NoErr(err)
			is.Equal(balance.Credits, imagegen.Credits(3))
			s.accepted(s.post(fox(""), from[0], from[1]), http.StatusOK) // with a key
		})
	}
	for _, own := range [][]string{{"Sec-Fetch-Site", "same-origin"}, {"Origin", "https://images.example.com"}, nil} {
		headers := append([]string{"Authorization", "-", "Cookie", "user=bob"}, own...)
		s.accepted(s.post(fox(""), headers...), http.StatusOK)
	}
	read := s.do(http.MethodGet, "/api/v1/credits", "", "Authorization", "-", "Cookie", "user=bob", "Origin",
		"https://app.example.com")
	s.is.Equal(read.StatusCode, http.StatusOK)
	s.is.Equal(read.Header.Get("Access-Control-Allow-Credentials"), "")
}

// What fails in the host's function is never the caller's fault, and says nothing of itself.
func TestSignInThatFails(t *testing.T) {
	for name, test := range map[string]struct {
		fails  func(*http.Request) (engine.Caller, error)
		status int
		code   imagegen.Code
	}{
		"an error": {func(*http.Request) (engine.Caller, error) {
			return engine.Caller{}, errors.New("no database")
		},
			http.StatusInternalServerError, imagegen.CodeInternal},
		"an error of a context": {func(*http.Request) (engine.Caller, error) {
			return engine.Caller{}, context.Canceled
		},
			http.StatusInternalServerError, imagegen.CodeInternal},
		"a panic": {func(*http.Request) (engine.Caller, error) { panic("nil map") },
			http.StatusInternalServerError, imagegen.CodeInternal},
		"nobody": {func(*http.Request) (engine.Caller, error) { return engine.Caller{}, nil },
			http.StatusInternalServerError, imagegen.CodeInternal},
		"an answer of its own": {func(*http.Request) (engine.Caller, error) {
			return engine.Caller{}, imagegen.ChargeRefused("the trial is over")
		}, http.StatusForbidden, imagegen.CodeChargeRefused},
		"a body": {func(r *http.Request) (engine.Caller, error) { // there is none
			_, err := r.Body.Read(make([]byte, 1))
			return engine.Caller{}, err
		}, http.StatusInternalServerError, imagegen.CodeInternal},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, httpapi.Options{Authenticate: test.fails})
			message := s.refused(s.post(fox(""), "Authorization", "-"), test.status, test.code)
			s.is.True(!strings.Contains(message, "database") && !strings.Contains(message, "nil map"))
			s.is.Equal(s.do(http.MethodGet, "/api/v1/credits", "").StatusCode, http.StatusOK) // keys go on
		})
	}
}

// A host that hangs costs its callers two seconds and a 503, and nobody else anything.
func TestSignInThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		e := imagegentest.Start(t)
		release := make(chan struct{})
		defer close(release)
		h := httpapi.NewHandler(e.Engine, httpapi.Options{Authenticate: func(*http.Request) (engine.Caller, error) {
			<-release
			return engine.Caller{}, nil
		}})
		began := time.Now()
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/credits", nil))
		is.Equal(w.Code, http.StatusServiceUnavailable)
		is.Equal(w.Header().Get("Retry-After"), "1")
		is.Equal(time.Since(began), 2*time.Second)
	})
}

// A sign-in that ends while the body arrives asks for nothing.
func TestSignInEndsWithTheBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		e := imagegentest.Start(t)
		h := httpapi.NewHandler(e.Engine, httpapi.Options{Authenticate: func(*http.Request) (engine.Caller, error) {
			return engine.Caller{User: imagegentest.Bob, Still: func(context.Context) error {
				return imagegen.ErrInvalidKey
			}}, nil
		}})
		body := &slowBody{strings.NewReader(fox(""))}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, generations, body)
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		is.Equal(w.Code, http.StatusUnauthorized)
		balance, err := e.As(imagegentest.Bob).Balance(t.Context())
		is.NoErr(err)
		is.Equal(balance.Credits, imagegen.Credits(3))
	})
}

// slowBody takes longer than an answer of the host counts.
type slowBody struct{ *strings.Reader }

func (b *slowBody) Read(p []byte) (int, error) {
	time.Sleep(2 * time.Second)
	return b.Reader.Read(p)
}

// Requests at once are counted for each of the host's sessions.
func TestLimitsOfSignIns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		e := imagegentest.Start(t)
		h := httpapi.NewHandler(e.Engine, httpapi.Options{MaxConcurrentRequests: 1,
			Authenticate: func(r *http.Request) (engine.Caller, error) {
				return engine.Caller{User: imagegentest.Alice, Name: r.Header.Get("Session")}, nil
			}})
		ask := func(session, body string) *httptest.ResponseRecorder {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, generations, strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Session", session)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return w
		}
		held := make(chan int)
		slow := strings.Replace(fox(""), "a fox", "[fake:delay=5s]", 1)
		go func() { held <- ask("1", slow).Code }()
		synctest.Wait()
		is.Equal(ask("1", fox("")).Code, http.StatusServiceUnavailable)
		is.Equal(ask("2", fox("")).Code, http.StatusOK)
		is.Equal(<-held, http.StatusOK)
	})
}
