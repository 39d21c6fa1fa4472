package console_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/storage/memory"
)

const (
	dayTable      = "What was asked for on each day, in UTC, newest first</caption>"
	modelTable    = "and how long they took</caption>"
	upstreamTable = "How each upstream answered in the last two days</caption>"
	userTable     = "The users who spent most in these days</caption>"
	keyTable      = "The API keys by which most was spent in these days</caption>"
)

// observed is a site with a history, whose clock stands at half past twelve.
func observed(t *testing.T, change ...func(*console.Config)) *site {
	t.Helper()
	now := &clock{now: time.Date(2027, 3, 4, 12, 30, 0, 0, time.UTC)}
	history, db := console.NewHistory(now.Now), memory.New(&memory.Options{Now: now.Now})
	over := func(c *console.Config) { c.Now, c.History, c.Ledger, c.Logins = now.Now, history, db, db }
	s := openOver(t, func(c *engine.Config) { c.Now, c.Observer, c.Store, c.Ledger = now.Now, history, db, db },
		append([]func(*console.Config){over}, change...)...)
	s.clock, s.DB = now, db
	return s
}

// paying is a new user with credits.
func (s *site) paying(name string) *visitor {
	s.Helper()
	v := s.signedIn(name)
	s.Grant(s.T, v.user.ID, 1000)
	return v
}

func TestOverview(t *testing.T) {
	s := observed(t)
	olivia, alice, bob := s.operator(), s.paying("alice"), s.paying("bob")
	a := olivia.get("overview")
	s.is.Equal(a.StatusCode, http.StatusOK)
	s.is.True(a.has("No upstream was asked", ">Overview</a>") && !a.has("Who spent most") && !a.has("Last backup"))

	for _, prompt := range []string{"a fox", "a hare [fake:images=1]", "a pig [fake:corrupt]",
		"a secret [fake:refuse]"} {
		_, _ = alice.generate(prompt)
	}
	raw, key, err := s.Accounts().MintKey(t.Context(), bob.user.ID, "<shop>", time.Time{})
	s.is.NoErr(err)
	session, err := s.Authenticate(t.Context(), raw.Reveal())
	s.is.NoErr(err)
	for range 3 {
		_, err = session.Generate(t.Context(), imagegen.GenerateRequest{Model: "fake-1", Prompt: "a map",
			Size: imagegen.Size{Width: 16, Height: 16}, N: 4})
		s.is.NoErr(err)
	}
	s.is.True(!olivia.get("overview").has("Who spent most")) // for a minute it is as it was
	s.clock.Advance(time.Minute)

	a = olivia.get("overview")
	s.is.True(a.has("<strong>15</strong>", "5 came back", "of 7 generations", "<strong>28.6 %</strong>",
		"Bars for the credits of each day", "15 credits</title>",
		`<rect class="failed"`, "1 of 7 attempts failed"))
	s.is.Equal(cmp.Diff([]string{"4 Mar 2027 | 7 | 2 | 15 | 15"}, a.table(dayTable)), "")
	s.is.Equal(cmp.Diff([]string{"fake-1 | 7 | 28.6 % | 15 | 15 | 0.1 s | 0.1 s"}, a.table(modelTable)), "")
	s.is.Equal(cmp.Diff([]string{"bob | 3 | 0 | 12 | 12", "alice | 4 | 2 | 3 | 3"}, a.table(userTable)), "")
	s.is.Equal(cmp.Diff([]string{"<shop> | bob | 3 | 0 | 12 | 12"}, a.table(keyTable)), "")
	s.is.True(strings.Contains(a.table(upstreamTable)[0], "| 7 | 14.3 % | 14.3 % |") &&
		strings.Contains(a.table(upstreamTable)[0], "At worst 1 of 7 on 4 Mar 2027, 12:00 UTC"))
	s.is.True(a.has(`href="/console/users/`+string(alice.user.ID)+`"`, `href="/console/users/`+string(alice.user.ID)+
		`/generations?status=failed"`, `href="#users"`))

	_, err = s.Accounts().RevokeKey(t.Context(), key.ID)
	s.is.NoErr(err)
	s.is.NoErr(s.Accounts().DisableUser(t.Context(), bob.user.ID))
	s.is.Equal(len(olivia.get("overview?days=365").table(keyTable)), 1) // they did spend it

	s.clock.Advance(console.HistoryHours * time.Hour)
	s.is.True(s.as(s.user("otto", account.RoleOperator)).get("overview").has("No upstream was asked"))
}

// Only operators learn that the page exists.
func TestNoOverview(t *testing.T) {
	alice := open(t).signedIn("alice")
	alice.is.True(!alice.get("credits").has("/console/overview"))
	alice.is.Equal(alice.get("overview").StatusCode, http.StatusNotFound)
}

func TestLastBackupAndAudit(t *testing.T) {
	w := &works{}
	s := observed(t, func(c *console.Config) { c.Operations = w })
	olivia, now := s.operator(), s.clock.Now()
	for _, c := range []struct {
		status console.Status
		want   []string
	}{
		{console.Status{}, []string{"none is scheduled", "since this process started", "operational</span>"}},
		{console.Status{Disk: console.Disk{Free: 9, Total: 100}}, []string{`class="figure warning"`,
			"9 bytes of 100 bytes on the disk are free."}},
		{console.Status{Disk: console.Disk{Free: 4, Total: 100}}, []string{`class="figure failing"`}},
		{console.Status{Backups: console.Backups{Every: time.Hour}}, []string{"<strong>none</strong>",
			"the first is under way"}},
		{console.Status{Backups: console.Backups{Every: time.Hour, Last: now.Add(-25 * time.Minute)},
			LastAudit: &engine.Audit{At: now.Add(-3 * time.Hour)}},
			[]string{"25 min ago", "verified", "3 h ago", "clean</span>"}},
		{console.Status{Backups: console.Backups{Every: time.Hour, Last: now.Add(-50 * time.Hour),
			Trouble: "the last backup failed: <no space>"}, LastAudit: &engine.Audit{At: now, Err: errors.New("no")}},
			[]string{"2 days ago", "just now", "failed: &lt;no space&gt;", "failed</span>"}},
	} {
		w.status = c.status
		s.is.True(olivia.get("overview").has(c.want...))
	}
}

// A failure of the ledger is not cached.
func TestOverviewOfABrokenLedger(t *testing.T) {
	broken := &brokenSums{broken: true}
	s := observed(t, func(c *console.Config) {
		broken.CreditAdmin, c.Ledger = c.Ledger, broken
	})
	olivia := s.operator()
	s.is.Equal(olivia.get("overview").StatusCode, http.StatusInternalServerError)
	broken.broken = false
	s.is.Equal(olivia.get("overview").StatusCode, http.StatusOK)
}

// While new sums are made, which takes long, a page shows the last ones; the first page waits for them.
func TestOverviewWhileSumsAreMade(t *testing.T) {
	slow := &slowSums{}
	s := observed(t, func(c *console.Config) {
		slow.CreditAdmin, c.Ledger = c.Ledger, slow
	})
	olivia := s.operator()
	last := regexp.MustCompile("as of .*").FindString(olivia.get("overview").body)
	s.is.True(last != "")
	s.clock.Advance(2 * time.Minute)
	held := make(chan struct{})
	slow.hold.Store(&held)
	for range 2 {
		s.is.True(olivia.get("overview").has(last))
	}
	close(held)
	s.is.Equal(int(slow.made.Load()), 2) // the second page began none of its own
}

// slowSums has sums wait.
type slowSums struct {
	imagegen.CreditAdmin
	hold atomic.Pointer[chan struct{}]
	made atomic.Int64
}

func (l *slowSums) EachUsage(ctx context.Context, from, to time.Time, f func(imagegen.UserID, imagegen.Usage)) error {
	l.made.Add(1)
	if held := l.hold.Load(); held != nil {
		<-*held
	}
	return l.CreditAdmin.EachUsage(ctx, from, to, f)
}

type brokenSums struct {
	imagegen.CreditAdmin
	broken bool
}

func (b *brokenSums) EachUsage(ctx context.Context, from, to time.Time, f func(imagegen.UserID, imagegen.Usage)) error {
	if b.broken {
		return errors.New("the page is damaged")
	}
	return b.CreditAdmin.EachUsage(ctx, from, to, f)
}

// The overview shows what images cost and, where the value of a credit is known, what they brought in.
func TestEarnings(t *testing.T) {
	const caption = "What the images of each %s brought in and cost</caption>"
	for _, c := range []struct {
		value         imagegen.Micros
		model, figure string
	}{{0, "fake-1 | 0 | 0.12", `<span>Cost upstream</span><strong>0.12</strong> <small>EUR</small>`},
		{70_000, "fake-1 | 0 | 0.21 | 0.12 | 0.09", `<span>Margin</span><strong>0.09</strong>`}} {
		s := observed(t, func(cfg *console.Config) { cfg.Money = console.Money{Currency: "EUR", CreditValue: c.value} })
		olivia, alice := s.operator(), s.paying("alice")
		s.is.True(!olivia.get("overview").has("<h2>What images earn</h2>") || c.value > 0)
		s.clock.Advance(time.Minute)
		is := s.is
		is.NoErr(s.SetModels(t.Context(), []engine.Model{{ID: "fake-1", Provider: &provider.Fake{},
			Credits: imagegen.EveryTier(1),
			Cost:    engine.Cost{Image: map[imagegen.Tier]imagegen.Micros{"1K": 40_000}}}}))
		for range 3 {
			_, err := s.As(alice.user.ID).Generate(t.Context(), imagegen.GenerateRequest{Model: "fake-1",
				Prompt: "a fox",
				Size:   imagegen.Size{Width: 16, Height: 16}})
			is.NoErr(err)
		}
		a := olivia.get("overview")
		is.True(a.has("<h2>What images earn</h2>", c.figure, "12 hundredths of EUR</title>"))
		is.Equal(cmp.Diff([]string{c.model}, a.table(fmt.Sprintf(caption, "model"))), "")
		day, _, _ := strings.Cut(a.table(fmt.Sprintf(caption, "day"))[0], " | ")
		is.Equal(a.table(fmt.Sprintf(caption, "day")), []string{strings.Replace(c.model, "fake-1", day, 1)})
		// The bar of the cost is on the scale of that of the revenue, which goes up to 30.
		is.Equal(strings.Contains(a.body, "21 hundredths of EUR</title>"), c.value > 0)
		is.Equal(strings.Contains(a.body, `height="40%"`), c.value > 0)
	}
}
