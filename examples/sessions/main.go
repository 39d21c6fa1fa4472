// Command sessions serves the image API and the account area to people who sign in at the program itself, by a cookie
// and without any API key, until it is interrupted. Its page makes images with a script of a few lines.
package main

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"html/template"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/httpapi/openai"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "address to listen on")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	listener, err := net.Listen("tcp", *addr)
	if err == nil {
		err = run(ctx, listener, os.Stdout)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, l net.Listener, out io.Writer) error {
	db := memory.New(nil)
	service, err := engine.New(engine.Config{Store: db, Ledger: db, Models: []engine.Model{{ID: "fake-1",
		Provider: &provider.Fake{}, Credits: map[imagegen.Tier]imagegen.Credits{"1K": 1}}}})
	if err != nil {
		return err
	}
	if err := service.Start(); err != nil {
		return err
	}
	defer service.Stop(context.WithoutCancel(ctx))
	for user := range people { // the identifiers of the program, which the service need not know before
		if _, err := db.Grant(ctx, imagegen.Grant{User: user, Credits: 10}); err != nil {
			return err
		}
	}
	handler, err := site(service, db)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "open http://%s and sign in as alice with the password fox\n", l.Addr())
	server, ended := httpapi.NewServer(handler), make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return server.Shutdown(context.WithoutCancel(ctx))
	}
}

// site has the pages of the program, the service in both of its forms, and the account area.
func site(service *engine.Engine, db *memory.DB) (http.Handler, error) {
	s := &sessions{users: map[string]imagegen.UserID{}}
	area, err := console.New(console.Config{Engine: service, Ledger: db, Logins: db, Host: &console.Host{
		Authenticate: s.authenticate, SignIn: "/", SignOut: "/signout",
		Operator: func(c engine.Caller) bool { return c.User == "bob" }}})
	if err != nil {
		return nil, err
	}
	api := httpapi.NewHandler(service, httpapi.Options{Authenticate: s.authenticate})
	mux := http.NewServeMux()
	mux.Handle("/api/v1/", api)
	mux.Handle("/images/", api)
	mux.Handle(console.DefaultPath, area)
	mux.Handle(openai.Prefix, openai.NewHandler(service.Authenticate, openai.Options{Authenticate: s.authenticate}))
	mux.HandleFunc("GET /{$}", s.page)
	own := http.NewCrossOriginProtection() // the service protects its addresses itself
	mux.Handle("POST /signin", own.Handler(http.HandlerFunc(s.signIn)))
	mux.Handle("POST /signout", own.Handler(http.HandlerFunc(s.signOut)))
	return mux, nil
}

// people and their passwords. A program of yours has hashes in a database.
var people = map[imagegen.UserID]string{"alice": "fox", "bob": "hen"}

// sessions are whom the program has signed in. It is safe for concurrent use.
type sessions struct {
	mu    sync.Mutex
	users map[string]imagegen.UserID // by the cookie's value
}

const cookie = "session"

// authenticate tells the service who asks.
func (s *sessions) authenticate(r *http.Request) (engine.Caller, error) {
	c, err := r.Cookie(cookie)
	if err != nil {
		return engine.Caller{}, imagegen.ErrMissingKey
	}
	user, err := s.of(c.Value)
	return engine.Caller{User: user, Name: c.Value, Still: func(context.Context) error {
		_, err := s.of(c.Value)
		return err
	}}, err
}

func (s *sessions) of(id string) (imagegen.UserID, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	user, ok := s.users[id]
	if !ok {
		return "", &imagegen.Error{Code: imagegen.CodeInvalidKey, Message: "your sign-in has ended; sign in again"}
	}
	return user, nil
}

// signIn gives each sign-in a new identifier, so that nobody can know one beforehand.
func (s *sessions) signIn(w http.ResponseWriter, r *http.Request) {
	user := imagegen.UserID(r.FormValue("user"))
	if password, ok := people[user]; !ok || password != r.FormValue("password") {
		http.Error(w, "wrong name or password", http.StatusForbidden)
		return
	}
	s.end(r)
	id := rand.Text()
	s.mu.Lock()
	s.users[id] = user
	s.mu.Unlock()
	// With TLS, set Secure too.
	http.SetCookie(w, &http.Cookie{Name: cookie, Value: id, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
	next := r.FormValue("next")
	if !strings.HasPrefix(next, console.DefaultPath) { // nowhere else: a link must not lead to another site
		next = "/"
	}
	http.Redirect(w, r, next, http.StatusSeeOther)
}

func (s *sessions) signOut(w http.ResponseWriter, r *http.Request) {
	s.end(r)
	w.Header().Set("Clear-Site-Data", `"cache", "storage"`) // images, and what was typed into the playground
	http.SetCookie(w, &http.Cookie{Name: cookie, Path: "/", MaxAge: -1})
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func (s *sessions) end(r *http.Request) {
	if c, err := r.Cookie(cookie); err == nil {
		s.mu.Lock()
		delete(s.users, c.Value)
		s.mu.Unlock()
	}
}

func (s *sessions) page(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if _, err := s.authenticate(r); err != nil {
		if err := signInPage.Execute(w, r.FormValue("next")); err != nil {
			log.Print(err)
		}
		return
	}
	io.WriteString(w, picturePage)
}

var signInPage = template.Must(template.New("").Parse(`<!doctype html><html lang="en"><title>Sign in</title>
<link rel="icon" href="data:,">
<form method="post" action="/signin">
<label>Name <input name="user" required></label> <label>Password <input name="password" type="password" required></label>
<input type="hidden" name="next" value="{{.}}"> <button>Sign in</button></form>`))

// The script sends no key: the browser adds the cookie.
const picturePage = `<!doctype html><html lang="en"><title>Pictures</title>
<link rel="icon" href="data:,">
<form id="ask"><label>Prompt <input name="prompt" value="a fox in the snow" required></label> <button>Draw</button></form>
<p><a href="/console/">Everything else</a></p>
<p id="said"></p><img id="picture" alt="">
<form method="post" action="/signout"><button>Sign out</button></form>
<script>
document.getElementById("ask").onsubmit = async event => {
  event.preventDefault();
  const answer = await fetch("/api/v1/images/generations", {method: "POST",
    headers: {"Content-Type": "application/json"},
    body: JSON.stringify({model: "fake-1", size: "320x200", prompt: event.target.prompt.value})});
  const got = await answer.json();
  document.getElementById("said").textContent = answer.ok ? got.balance.credits + " credits left" : got.error.message;
  if (answer.ok) document.getElementById("picture").src = got.images[0].url;
};
</script>`
