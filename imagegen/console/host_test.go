package console_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

// program signs people in by a cookie that names them, until they are signed out.
type program struct {
	mu   sync.Mutex
	gone bool
}

func (p *program) still(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone {
		return imagegen.ErrInvalidKey
	}
	return nil
}

func (p *program) signOut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gone = true
}

func (p *program) authenticate(r *http.Request) (engine.Caller, error) {
	c, err := r.Cookie("program")
	if err != nil {
		return engine.Caller{}, imagegen.ErrMissingKey
	}
	return engine.Caller{User: imagegen.UserID(c.Value), Name: c.Value, Still: p.still}, p.still(r.Context())
}

// hosted is a site whose people the program signs in, and a browser of Alice's, whom the store does not know.
func hosted(t *testing.T) (*site, *program, *visitor) {
	t.Helper()
	p := &program{}
	s := open(t, func(c *console.Config) {
		c.Host = &console.Host{Authenticate: p.authenticate, SignIn: "/login?from=images", SignOut: "/logout",
			Operator: func(c engine.Caller) bool { return c.User == "olivia" }}
	})
	return s, p, s.hosts(imagegentest.Alice)
}

// hosts is a browser of somebody whom the program has signed in.
func (s *site) hosts(u imagegen.UserID) *visitor {
	v := s.visitor()
	v.user.ID, v.cookies["program"] = u, string(u)
	return v
}

// Whom the program has signed in uses the console at once: playground, gallery and credits.
func TestHostSignsIn(t *testing.T) {
	s, _, alice := hosted(t)
	page := alice.get("playground")
	s.is.Equal(page.StatusCode, http.StatusOK)
	s.is.True(page.has("alice", `action="/logout"`, "100"))
	s.is.True(!page.has(`/console/account"`))
	made := alice.post("playground", small("prompt", "a fox", "n", "1", "token", page.entered()["token"])...)
	s.is.True(strings.HasPrefix(made.redirected(), "/console/playground?result="))
	alice.reaches(alice.made()[0].ID, imagegen.StatusSucceeded)
	s.is.True(alice.get("generations").has("a fox"))
	s.is.True(alice.get("credits").has("99"))
	key := alice.follow(alice.post("keys", "name", "laptop", "life", "never"))
	s.is.True(key.has("img_live_")) // for programs of hers, without another confirmation
	s.is.True(!s.hosts(imagegentest.Bob).get("generations").has("a fox"))
}

// Without a sign-in a page leads to that of the program, which leads back; the console's own is not there.
func TestHostsPages(t *testing.T) {
	s, _, alice := hosted(t)
	s.is.Equal(s.visitor().get("credits").redirected(), "/login?from=images&next=%2Fconsole%2Fcredits")
	for _, path := range []string{"signin", "account", "setup/x", "invitation/x", "entry/x"} {
		s.is.Equal(alice.get(path).StatusCode, http.StatusNotFound)
	}
	s.is.Equal(alice.post("signout").StatusCode, http.StatusNotFound)
	s.is.Equal(alice.post("signin", "name", "alice", "password", secret).StatusCode, http.StatusNotFound)
}

// The program says who is an operator.
func TestHostsOperators(t *testing.T) {
	s, _, alice := hosted(t)
	bob := s.newcomer("carol")
	olivia := s.hosts("olivia")
	s.is.Equal(alice.get("users").StatusCode, http.StatusNotFound)
	users := olivia.get("users")
	s.is.True(users.has("carol") && !users.has("users/new"))
	user := olivia.get("users/" + string(bob.ID))
	s.is.True(user.has("Account type") && !user.has("/invitation"))
	for _, page := range []answer{users, user} { // the program alone knows how people sign in, and who is what
		s.is.True(page.has("active</span>"))
		s.is.True(!page.has("Password set") && !page.has("no password") && !page.has("Role"))
	}
	changed := olivia.post("users/"+string(bob.ID)+"/type", "type", "PRO") // without another confirmation
	s.is.True(changed.redirected() != "")
	s.is.Equal(olivia.post("users", "name", "dave").StatusCode, http.StatusNotFound)
}

// What was typed when the sign-in ended is kept, and nothing is charged.
func TestHostsSignInEndsMidForm(t *testing.T) {
	s, p, alice := hosted(t)
	p.signOut()
	kept := alice.post("playground", "model", imagegentest.Model, "prompt", "a fox in the snow", "n", "1")
	s.is.Equal(kept.StatusCode, http.StatusForbidden)
	s.is.True(kept.has("a fox in the snow", "/login?from=images"))
	balance, err := s.As(imagegentest.Alice).Balance(t.Context())
	s.is.NoErr(err)
	s.is.Equal(balance.Credits, imagegen.Credits(100))
}

// Nor is anything done if it ends while the form arrives.
func TestHostsSignInEndsWhileAFormArrives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p, alice := hosted(t)
		alice.late = func() {
			p.signOut()
			time.Sleep(time.Second) // for which the former answer counts
		}
		s.is.True(strings.HasPrefix(alice.post("keys", "name", "laptop", "life", "never").redirected(), "/login"))
		keys, err := s.Accounts().Keys(t.Context(), imagegentest.Alice)
		s.is.NoErr(err)
		s.is.Equal(len(keys), 0)
	})
}

// A page that waits for its images notices that the sign-in has ended, and leads to the next one.
func TestHostsSignInEndsMidWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, p, alice := hosted(t)
		g := alice.begin("[fake:delay=5m]", 1)
		began := time.Now()
		time.AfterFunc(2*time.Second, p.signOut)
		alice.reaches(g.ID, imagegen.StatusProcessing)
		a := alice.get("playground/results/"+string(g.ID)+"?seen=processing-0-false&wait=10", "HX-Request", "true")
		s.is.True(strings.HasPrefix(a.Header.Get("HX-Redirect"), "/login?from=images&next="))
		s.is.True(time.Since(began) <= 4*time.Second)
	})
}

// A page of another site cannot use the sign-in, and what fails in the program signs nobody out.
func TestHostsFaults(t *testing.T) {
	s, _, alice := hosted(t)
	forged := alice.do(http.MethodPost, "playground", strings.NewReader("prompt=a+fox"), "Content-Type",
		"application/x-www-form-urlencoded", "Sec-Fetch-Site", "cross-site")
	s.is.Equal(forged.StatusCode, http.StatusForbidden)
	for name, fails := range map[string]func(*http.Request) (engine.Caller, error){
		"an error": func(*http.Request) (engine.Caller, error) { return engine.Caller{}, errors.New("no database") },
		"a panic":  func(*http.Request) (engine.Caller, error) { panic("nil map") },
		"nobody":   func(*http.Request) (engine.Caller, error) { return engine.Caller{}, nil },
		"its role": func(*http.Request) (engine.Caller, error) { return engine.Caller{User: "alice", Name: "1"}, nil },
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, func(c *console.Config) {
				c.Host = &console.Host{Authenticate: fails, SignIn: "/login",
					Operator: func(engine.Caller) bool { panic("nil map") }}
			})
			page := s.visitor().get("playground")
			s.is.Equal(page.StatusCode, http.StatusInternalServerError)
			s.is.True(!page.has("database") && !page.has("nil map"))
		})
	}
}

// A function of the program that hangs costs its people two seconds and a 503.
func TestHostHangs(t *testing.T) {
	release := make(chan struct{})
	for name, change := range map[string]func(*console.Host){
		"Authenticate": func(h *console.Host) {
			h.Authenticate = func(r *http.Request) (engine.Caller, error) {
				<-release
				return engine.Caller{}, nil
			}
		},
		"Operator": func(h *console.Host) { h.Operator = func(engine.Caller) bool { <-release; return true } },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release = make(chan struct{})
				defer close(release)
				host := &console.Host{SignIn: "/login", Authenticate: (&program{}).authenticate}
				change(host)
				s := open(t, func(c *console.Config) { c.Host = host })
				began := time.Now()
				s.is.Equal(s.hosts(imagegentest.Alice).get("playground").StatusCode, http.StatusServiceUnavailable)
				s.is.Equal(time.Since(began), 2*time.Second)
			})
		})
	}
}

func TestHostsConfig(t *testing.T) {
	is := is.New(t)
	s := open(t)
	cfg := s.config
	cfg.Host, cfg.Passkeys, cfg.OperatorsNeedPasskey = &console.Host{}, nil, true
	_, err := console.New(cfg)
	is.True(err != nil)
	is.True(strings.Contains(err.Error(), "Config.Host needs Authenticate and SignIn"))
	is.True(strings.Contains(err.Error(), "Config.Host excludes"))
}
