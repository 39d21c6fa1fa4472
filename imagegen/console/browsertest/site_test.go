package browsertest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/httpapi/openapi"
	"github.com/imagegend/imagegend/imagegen/storage"
)

// secret is the password of all users of a test, unless it chooses another.
const secret = "correct horse battery"

// model is the model of all generations.
const model = "landscape-1"

// clock is the time of a site: the true one, and what a test has put it forward by.
type clock struct{ ahead atomic.Int64 }

func (c *clock) Now() time.Time          { return time.Now().Add(time.Duration(c.ahead.Load())) }
func (c *clock) Advance(d time.Duration) { c.ahead.Add(int64(d)) }

// site is a service at work, with its API and its console at one address.
type site struct {
	*testing.T
	is *is.I
	*engine.Engine
	db      *storage.DB
	clock   *clock
	painter *painter
	brand   console.Brand
	host    *console.Host // nil: the console's own sign-in
	history *console.History
	hooks   *hooks // nil: there is no page of webhooks
	address string
	ends    sync.Map // GenerationID → chan struct{}, closed when it has ended
}

// open starts a site with an empty store and the fake provider.
func open(t *testing.T) *site {
	t.Helper()
	return openAt(t, 0)
}

// openAt is open with the time put forward or back.
func openAt(t *testing.T, ahead time.Duration) *site {
	t.Helper()
	s := &site{T: t, is: is.New(t), clock: &clock{}, painter: newPainter()}
	s.clock.Advance(ahead)
	s.history = console.NewHistory(s.clock.Now)
	var err error
	s.db, err = storage.Open(t.TempDir(), &storage.Options{Now: s.clock.Now})
	s.is.NoErr(err)
	t.Cleanup(func() { s.is.NoErr(s.db.Close()) })
	s.Engine, err = engine.New(engine.Config{Store: s.db, Ledger: s.db, Now: s.clock.Now,
		Observer: imagegen.Observers{imagegen.ObserverFunc(s.observe), s.history}, Thumbnails: true,
		Models: []engine.Model{{
			ID: model, Provider: s.painter, Credits: map[imagegen.Tier]imagegen.Credits{"1K": 1, "2K": 2, "4K": 4},
		}}})
	s.is.NoErr(err)
	s.is.NoErr(s.Engine.Start())
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // what still runs is cut short
		s.is.NoErr(s.Engine.Stop(ctx))
	})
	s.serve()
	return s
}

func (s *site) serve() {
	config := console.Config{Engine: s.Engine, Ledger: s.db, Logins: s.db, Now: s.clock.Now, OpenAI: true,
		Brand: s.brand, Host: s.host, History: s.history,
		Operations: console.EngineOperations{Engine: s.Engine, Version: "v1.0.0",
			Started: s.clock.Now(), Disk: s.disk, Backups: s.backups}}
	if s.hooks != nil {
		config.Admin, config.Webhooks = s.hooks, len(s.hooks.all) > 0
	}
	c, err := console.New(config)
	s.is.NoErr(err)
	mux := http.NewServeMux()
	mux.Handle(openapi.DocumentPath, openapi.Handler(""))
	mux.Handle(openapi.PagePath, openapi.Handler(""))
	mux.Handle(openapi.PagePath+"/", openapi.Handler(""))
	mux.Handle("/", httpapi.NewHandler(s.Engine, httpapi.Options{}))
	mux.Handle(console.DefaultPath, c)
	server := httptest.NewServer(mux)
	s.Cleanup(server.Close)
	s.address = server.URL
}

func (s *site) backups() console.Backups {
	return console.Backups{Every: 6 * time.Hour, Last: s.clock.Now().Add(-time.Hour)}
}

func (s *site) disk() (console.Disk, error) {
	space, err := s.db.Space()
	return console.Disk(space), err
}

// user adds a user who signs in with secret.
func (s *site) user(name string, role account.Role) imagegen.User {
	s.Helper()
	u, err := s.Accounts().CreateUser(s.Context(), name, "")
	s.is.NoErr(err)
	s.is.NoErr(console.SetPassword(s.Context(), s.db, u.ID, role, secret))
	return u
}

func (s *site) grant(u imagegen.User, g imagegen.Grant) {
	s.Helper()
	g.User = u.ID
	_, err := s.db.Grant(s.Context(), g)
	s.is.NoErr(err)
}

// begin starts an asynchronous generation of a user.
func (s *site) begin(u imagegen.User, prompt string, n int) imagegen.Generation {
	s.Helper()
	q := imagegen.GenerateRequest{Model: model, Prompt: prompt, N: n, Size: imagegen.Size{Width: 320, Height: 320},
		Async: true}
	g, err := s.As(u.ID).Generate(s.Context(), q)
	s.is.NoErr(err)
	return g.Generation
}

// generate starts a generation of a user, and waits for its end.
func (s *site) generate(u imagegen.User, prompt string, n int) imagegen.Generation {
	s.Helper()
	g := s.begin(u, prompt, n)
	s.await(g.ID)
	g, err := s.As(u.ID).Generation(s.Context(), g.ID)
	s.is.NoErr(err)
	return g
}

func (s *site) observe(_ context.Context, e imagegen.Event) {
	if e.Kind != imagegen.EventAccepted {
		close(s.end(e.Generation.ID))
	}
}

func (s *site) end(id imagegen.GenerationID) chan struct{} {
	c, _ := s.ends.LoadOrStore(id, make(chan struct{}))
	return c.(chan struct{})
}

// await waits until a generation has ended.
func (s *site) await(id imagegen.GenerationID) {
	s.Helper()
	select {
	case <-s.end(id):
	case <-time.After(patience):
		s.Fatalf("generation %s does not end", id)
	}
}

// call asks the API for the balance with a key, and returns the status of its answer.
func (s *site) call(key string) int {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), http.MethodGet, s.address+"/api/v1/credits", nil)
	s.is.NoErr(err)
	r.Header.Set("Authorization", "Bearer "+key)
	a, err := http.DefaultClient.Do(r)
	s.is.NoErr(err)
	s.is.NoErr(a.Body.Close())
	return a.StatusCode
}
