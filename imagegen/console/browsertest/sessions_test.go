package browsertest_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/matryer/is"
)

// sessions runs the example of a program that signs people in itself: alice and bob, who is the operator. Of the site
// there is the address alone.
func sessions(t *testing.T) *site {
	t.Helper()
	s := &site{T: t, is: is.New(t)}
	program := filepath.Join(t.TempDir(), "sessions")
	build := exec.Command("go", "build", "-o", program, "./sessions")
	build.Dir = filepath.Join("..", "..", "..", "examples")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build, err, out)
	}
	// The pictures of some tests take longer than the tests, so the program is killed.
	ctx, kill := context.WithCancel(context.Background())
	run := exec.CommandContext(ctx, program, "-addr", "127.0.0.1:0")
	out, err := run.StdoutPipe()
	s.is.NoErr(err)
	s.is.NoErr(run.Start())
	t.Cleanup(func() {
		kill()
		_ = run.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	s.is.NoErr(err)
	s.address = regexp.MustCompile(`http://\S+`).FindString(line)
	return s
}

// at is a tab in which somebody has signed in at the program, and gone to a page of the console.
func (s *site) at(page, name, password string) *tab {
	s.Helper()
	t := s.tab()
	t.open(page, 200)
	s.is.Equal(t.path(), "/") // the program's own page, which leads back
	t.signIn(name, password, 200)
	s.is.Equal(t.path(), page)
	return t
}

const cookieName = "session" // of the program

// cookie returns the cookie of the program, which no script sees.
func (t *tab) cookie() string {
	t.Helper()
	all, err := chromedp.Call(t.ctx, network.GetCookies, network.GetCookiesParams{URLs: []string{t.address}})
	t.is.NoErr(err)
	for _, c := range all.Cookies {
		if c.Name == cookieName {
			return c.Value
		}
	}
	return ""
}

// endSession ends the sign-in at the program, which the tab does not notice.
func (t *tab) endSession() {
	t.Helper()
	t.is.Equal(t.asks(http.MethodPost, "/signout", t.cookie()), http.StatusOK)
}

// asks returns the status of what the program answers to somebody with this cookie.
func (s *site) asks(method, path, cookie string) int {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), method, s.address+path, nil)
	s.is.NoErr(err)
	r.AddCookie(&http.Cookie{Name: cookieName, Value: cookie})
	a, err := http.DefaultClient.Do(r)
	s.is.NoErr(err)
	s.is.NoErr(a.Body.Close())
	return a.StatusCode
}

// balance is what the page about credits says.
func (t *tab) balance() (credits int) {
	t.Helper()
	_, has, _ := strings.Cut(strings.Join(strings.Fields(t.text()), " "), "Balance ")
	_, err := fmt.Sscan(has, &credits)
	t.is.NoErr(err)
	return credits
}

const typed = `document.querySelector("[name=prompt]").value`

// Whom the program has signed in makes images on its page and in the playground, finds them in the gallery and in the
// credits, and signs out.
func TestSessions(t *testing.T) {
	s := sessions(t)
	tab := s.tab()
	tab.open(s.address, 200)
	tab.signIn("alice", "fox", 200)
	s.is.Equal(evaluate[string](tab, `document.cookie`), "") // no script sees it
	tab.click("Draw")
	tab.shows("9 credits left")
	s.is.Equal(evaluate[int](tab, `(async () => {
		const picture = document.getElementById("picture");
		await picture.decode();
		return picture.naturalWidth;
	})()`), 320)

	tab.press("Everything else", 200)
	s.is.Equal(tab.path(), "playground")
	tab.shows("alice", "Balance 9, afterwards 8.")
	tab.fill("Prompt", "A red fox in fresh snow")
	tab.click("Generate")
	tab.shows("succeeded", "Balance 8, afterwards 7.")
	tab.fill("Prompt", "Half a tho")
	tab.press("Generations", 200)
	tab.shows("A red fox in fresh snow", "a fox in the snow")
	s.is.Equal(tab.pictures(), 2)
	tab.press("Credits", 200)
	s.is.Equal(tab.balance(), 8)
	tab.lacks("Users", "Audit trail") // she is not an operator

	old := tab.cookie()
	tab.press("Sign out", 200)
	s.is.Equal(tab.cookie(), "")
	s.is.Equal(s.asks(http.MethodGet, "/api/v1/credits", old), http.StatusUnauthorized)
	s.is.Equal(evaluate[int](tab, `localStorage.length`), 0) // nobody else there reads the draft
	tab.open("credits", 200)
	s.is.Equal(tab.path(), "/")
}

// The program says who is an operator.
func TestSessionOfAnOperator(t *testing.T) {
	tab := sessions(t).at("users", "bob", "hen")
	for _, page := range []string{"Overview", "Users", "Audit trail"} {
		tab.press(page, 200)
	}
	tab.lacks("Invite")
}

// The session ends while a form is filled in: with the scripts of the page and without them, nothing typed is lost, and
// nothing is made.
func TestSessionEndsMidForm(t *testing.T) {
	s := sessions(t)
	tab := s.at("playground", "alice", "fox")
	tab.fill("Prompt", "Half a thought")
	tab.shows("Half a thought") // in the code: nothing else asks the service now
	tab.endSession()
	tab.press("Generate", 200)
	s.is.Equal(tab.path(), "/")
	tab.signIn("alice", "fox", 200)
	s.is.Equal(tab.path(), "playground")
	s.is.Equal(evaluate[string](tab, typed), "Half a thought")
	tab.shows("Balance 10, afterwards 9.")

	bare := tab.another()
	bare.withoutScripts()
	bare.open("playground", 200)
	bare.fill("Prompt", "Another thought")
	bare.endSession()
	bare.press("Generate", 403)
	bare.shows("You were signed out meanwhile.")
	beside := bare.another() // where its link leads
	beside.open(s.address, 200)
	beside.signIn("alice", "fox", 200)
	bare.press("Then go on", 200)
	s.is.Equal(evaluate[string](bare, typed), "Another thought")
	bare.shows("Balance 10, afterwards 9.")
}

// The session ends while a page waits for its images: it leads to the sign-in by itself, and from there back to them.
func TestSessionEndsMidWait(t *testing.T) {
	s := sessions(t)
	tab := s.at("playground", "alice", "fox")
	tab.fill("Prompt", "[fake:delay=5m] A glacier")
	tab.click("Generate")
	tab.shows("processing")
	tab.fill("Prompt", "Half a thought")
	tab.endSession()
	tab.shows("Name", "Password")
	s.is.Equal(tab.path(), "/")
	tab.signIn("alice", "fox", 200)
	s.is.Equal(tab.path(), "playground")
	tab.shows("processing", "Balance 9, afterwards 8.")
	s.is.Equal(evaluate[string](tab, typed), "Half a thought")
}

// A page of another origin can neither use a session, end it, nor plant one.
func TestSessionsUnderAttack(t *testing.T) {
	s := sessions(t)
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		form := `<form method="post" action="` + s.address + `%s" enctype="text/plain">
			<input name="%s" value="%s"><button>%s</button></form>`
		fmt.Fprint(w, `<!doctype html><title>Win a prize</title><link rel="icon" href="data:,">`+
			fmt.Sprintf(form, "/api/v1/images/generations",
				`{&quot;model&quot;:&quot;fake-1&quot;,&quot;prompt&quot;:&quot;`, `forged&quot;}`, "Draw")+
			fmt.Sprintf(form, "/console/playground", "prompt", "forged", "Play")+
			fmt.Sprintf(form, "/console/keys", "name", "forged", "Key")+
			fmt.Sprintf(form, "/signout", "", "", "Leave"))
	}))
	t.Cleanup(evil.Close)
	near := evil.URL // the same site for cookies, which know no ports
	far := strings.Replace(evil.URL, "127.0.0.1", "localhost", 1)

	tab := s.tab()
	tab.eyes.allow(near)
	tab.eyes.allow(far)
	tab.open(near, 200)
	tab.do(chromedp.Evaluate[chromedp.Void](`document.cookie = "` + cookieName + `=planted; path=/"`))
	tab.open(s.address, 200)
	s.is.Equal(tab.cookie(), "planted")
	tab.signIn("alice", "fox", 200)
	s.is.True(tab.cookie() != "planted")
	s.is.Equal(s.asks(http.MethodGet, "/api/v1/credits", "planted"), http.StatusUnauthorized)
	for _, origin := range []string{near, far} {
		for _, attack := range []struct {
			button string
			status int
		}{{"Draw", 401}, {"Play", 403}, {"Key", 403}, {"Leave", 403}} {
			tab.open(origin, 200)
			tab.press(attack.button, attack.status)
		}
		tab.open(origin, 200)
		read := evaluate[bool](tab, `fetch("`+s.address+`/api/v1/credits", {credentials: "include"}).then(() => true, () => false)`)
		s.is.True(!read)
		tab.eyes.forget() // that the browser refused it
	}
	tab.open("credits", 200)
	s.is.Equal(tab.balance(), 10)
	tab.open("keys", 200)
	tab.lacks("forged")
}
