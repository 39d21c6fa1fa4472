package console_test

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console"
	"github.com/imagegend/imagegend/imagegen/console/internal/chart"
)

// generate asks for two images of a credit each.
func (v *visitor) generate(prompt string) (imagegen.Result, error) {
	return v.As(v.user.ID).Generate(v.Context(), imagegen.GenerateRequest{Model: "fake-1", Prompt: prompt, N: 2,
		Size: imagegen.Size{Width: 16, Height: 16}})
}

var spaces = regexp.MustCompile(`\s+`)

// table is the text of a page's cells, a line for each row of the table that has the caption.
func (a answer) table(caption string) (rows []string) {
	_, body, _ := strings.Cut(a.body, caption)
	body, _, _ = strings.Cut(body, "</table>")
	_, body, _ = strings.Cut(body, "<tbody>")
	for row := range strings.SplitSeq(body, "</tr>") {
		row = html.UnescapeString(tag.ReplaceAllString(cell.ReplaceAllString(row, " | "), " "))
		if row = strings.TrimSpace(spaces.ReplaceAllString(row, " ")); row != "" {
			rows = append(rows, row)
		}
	}
	return rows
}

var (
	cell = regexp.MustCompile(`</t[hd]>\s*<td[^>]*>`)
	tag  = regexp.MustCompile(`<[^>]*>`)
)

const (
	lotsTable   = "in the order in which they are spent</caption>"
	ledgerTable = "What happened to your credits, newest first</caption>"
	daysTable   = "Credits spent per day, in UTC, newest first</caption>"
)

func TestCreditsOfANewUser(t *testing.T) {
	s := open(t)
	a := s.signedIn("alice").get("credits")
	s.is.Equal(a.StatusCode, http.StatusOK)
	s.is.True(a.has("<h2>No credits yet</h2>", "nothing expires", "Nothing was spent in these 30 days.",
		"<strong>FREE</strong>"))
	s.is.True(!a.has(`id="ledger"`) && !a.has("<svg class=\"plot\""))
}

func TestLots(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	soon, late := time.Date(2100, 1, 2, 3, 4, 5, 0, time.UTC), time.Date(2101, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, g := range []imagegen.Grant{
		{Credits: 1000, Ref: "invoice <7>"},
		{Credits: 20, Expires: late, Ref: "console-ABC"},
		{Credits: 3, Expires: soon, Promo: true},
		{Credits: 4, Expires: soon},
	} {
		g.User = v.user.ID
		_, err := s.DB.Grant(t.Context(), g)
		s.is.NoErr(err)
	}
	s.is.NoErr(s.DB.Charge(t.Context(), imagegen.Charge{ID: "a", User: v.user.ID, Credits: 5}))
	s.is.NoErr(s.DB.Settle(t.Context(), "a", 4))
	s.is.NoErr(s.DB.Charge(t.Context(), imagegen.Charge{ID: "b", User: v.user.ID, Credits: 8}))
	a := v.get("credits")
	s.is.True(a.has("<strong>1,015</strong><small>credits to spend", "<span>Held</span><strong>8</strong>",
		"<span>Next expiry</span><strong><time datetime=\"2101-01-02T03:04:05Z\"", "<small>15 credits"))
	moment := regexp.MustCompile(`\d+ \w+ \d{4}(, \d\d:\d\d UTC)?`)
	var lots []string
	for _, row := range a.table(lotsTable) {
		lots = append(lots, moment.ReplaceAllStringFunc(row, func(s string) string {
			return map[bool]string{true: "then", false: "now"}[strings.Contains(s, "210")]
		}))
	}
	s.is.Equal(lots, []string{
		"now | 15 | 5 | 0 | 20 | then", // the others hold the rest, and cannot be spent
		"now invoice <7> | 1,000 | 0 | 0 | 1,000 | never",
	})
	s.is.NoErr(s.DB.Settle(t.Context(), "b", 0))
	lots = v.get("credits").table(lotsTable)
	s.is.Equal(len(lots), 3)
	s.is.True(strings.Contains(lots[0], "| 3 | 0 | 1 | 4 |") && !strings.Contains(lots[0], "gift"))
	s.is.True(!v.get("credits").has("console-ABC")) // the console made that up
}

func TestGift(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	_, err := s.DB.Grant(t.Context(), imagegen.Grant{User: v.user.ID, Credits: 1, Promo: true})
	s.is.NoErr(err)
	s.is.True(v.get("credits").has(`<span class="badge promo">gift</span>`, "<small>credit to spend"))
}

func TestManyLots(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	for range 50 {
		s.Grant(t, v.user.ID, 1)
	}
	a := v.get("credits")
	s.is.Equal(len(a.table(lotsTable)), 50)
	s.is.True(!a.has("More follow"))
	s.Grant(t, v.user.ID, 1)
	a = v.get("credits")
	s.is.Equal(len(a.table(lotsTable)), 50)
	s.is.True(a.has("More follow when these are spent.", "<strong>51</strong>"))
}

// The page does not suggest to ask for credits while all of them are held by work under way.
func TestAllUnderWay(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	s.Grant(t, v.user.ID, 4)
	s.is.NoErr(s.DB.Charge(t.Context(), imagegen.Charge{ID: "a", User: v.user.ID, Credits: 4}))
	s.is.True(!v.get("credits").has("No credits"))
	s.is.NoErr(s.DB.Settle(t.Context(), "a", 4))
	s.is.True(v.get("credits").has("<h2>No credits</h2>"))
}

// Each generation has one row, with the charge, the refund and its reason.
func TestRowsOfGenerations(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	s.Grant(t, v.user.ID, 100)
	for _, prompt := range []string{"a <fox>", "a hare [fake:images=1]", "a pig [fake:fail]",
		"a secret [fake:refuse]"} {
		_, err := v.generate(prompt)
		s.is.Equal(err != nil, strings.Contains(prompt, "fail") || strings.Contains(prompt, "refuse"))
	}
	page, err := v.As(v.user.ID).Generations(t.Context(), imagegen.Query{Limit: 1})
	s.is.NoErr(err)
	a := v.get("credits")
	s.is.True(a.has(`href="/console/generations/` + string(page.Generations[0].ID) + `"`))
	s.is.NoErr(s.Erase(t.Context(), page.Generations[0].ID))

	erased := string(page.Generations[0].ID) + " erased"
	rows := v.get("credits").table(ledgerTable)
	s.is.Equal(len(rows), 5)
	for i, want := range []string{
		"Refunded | " + erased + " Charged 2, used 0, refunded 2. | 0 | 97 |",
		"Refunded | a pig [fake:fail] Charged 2, used 0, refunded 2. The provider cannot make these images as they are asked for; the credits were returned; change the request. | 0 | 97 |",
		"Partly refunded | a hare [fake:images=1] Charged 2, used 1, refunded 1. The provider made 1 image fewer than was asked for. | −1 | 97 |",
		"Spent | a <fox> 2 images of fake-1 in 1K at 1 credit each. | −2 | 98 |",
		"Granted | | +100 | 100 |",
	} {
		if !strings.HasPrefix(rows[i], want) {
			t.Errorf("row %d is\n%s\nwanted\n%s", i, rows[i], want)
		}
	}
}

// A row has the beginning of a long prompt, in one line.
func TestLongPrompt(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	s.Grant(t, v.user.ID, 100)
	for _, prompt := range []string{" fox \n\t " + strings.Repeat("狐", 76), "fox " + strings.Repeat("狐", 77),
		strings.Repeat("word ", 16) + "more"} {
		_, err := v.generate(prompt)
		s.is.NoErr(err)
	}
	rows := v.get("credits").table(ledgerTable)
	s.is.True(strings.Contains(rows[0], "| "+strings.Repeat("word ", 15)+"word… 2 images"))
	s.is.True(strings.Contains(rows[1], "| fox "+strings.Repeat("狐", 76)+"… 2 images"))
	s.is.True(strings.Contains(rows[2], "| fox "+strings.Repeat("狐", 76)+" 2 images"))
}

// A generation that has not ended shows its status.
func TestOpenCharge(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	s.Grant(t, v.user.ID, 100)
	_, err := v.As(v.user.ID).Generate(t.Context(), imagegen.GenerateRequest{Model: "fake-1",
		Prompt: "a fox [fake:delay=1h]", Async: true})
	s.is.NoErr(err)
	rows := v.get("credits").table(ledgerTable)
	s.is.Equal(len(rows), 2)
	s.is.True(strings.Contains(rows[0], "[fake:delay=1h] queued") ||
		strings.Contains(rows[0], "[fake:delay=1h] processing"))
}

// book is a ledger in which some things were done by others.
type book struct {
	imagegen.CreditAdmin
	entries []imagegen.Entry
	days    []chart.Day
	uses    []imagegen.Usage // by key and model
	from    time.Time        // what was asked for
	to      time.Time
	most    int    // entries that were asked for at once
	read    func() // called before entries are
	fails   int    // at the call of that number; 0: never
	calls   int
}

func (b *book) History(ctx context.Context, _ imagegen.UserID, before uint64, limit int) ([]imagegen.Entry, error) {
	if b.calls++; b.read != nil {
		b.read()
	}
	b.most = max(b.most, limit)
	if b.calls == b.fails {
		return nil, errors.New("a fault in the ledger")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i, e := range b.entries {
		if before == 0 || e.Seq < before {
			return b.entries[i:min(i+limit, len(b.entries))], nil
		}
	}
	return nil, nil
}

func (b *book) EachUsage(context.Context, time.Time, time.Time, func(imagegen.UserID, imagegen.Usage)) error {
	return nil
}

func (b *book) Usage(_ context.Context, _ imagegen.UserID, q imagegen.UsageQuery) (all []imagegen.Usage, _ error) {
	b.from, b.to = q.From, q.To
	if slices.Contains(q.By, imagegen.UsageByKey) {
		return b.uses, nil
	}
	for _, d := range b.days {
		all = append(all, imagegen.Usage{Day: d.Date, UsageSums: imagegen.UsageSums{Charged: imagegen.Credits(d.Amount),
			Spent: imagegen.Credits(d.Amount)}})
	}
	return all, nil
}

func (b *book) KeyUse(context.Context, imagegen.UserID, imagegen.KeyID) (use imagegen.KeyUse, _ error) {
	return use, nil
}

// withBook is a site with such a ledger.
func withBook(t *testing.T) (*site, *book) {
	t.Helper()
	b := new(book)
	return open(t, func(c *console.Config) {
		b.CreditAdmin = c.Ledger
		c.Ledger = b
	}), b
}

// A charge with the identifier of another user's generation shows nothing of it. The other kinds of entries have rows
// too.
func TestOtherEntries(t *testing.T) {
	s, b := withBook(t)
	v, bob := s.signedIn("alice"), s.signedIn("bob")
	s.Grant(t, bob.user.ID, 100)
	g, err := bob.generate("a secret")
	s.is.NoErr(err)
	b.entries = []imagegen.Entry{
		{Seq: 9, Kind: imagegen.EntryExpire, Credits: -12345, Balance: 5},
		{Seq: 8, Kind: imagegen.EntryRevoke, Credits: -5, Ref: "chargeback 7", Balance: 10},
		{Seq: 7, Kind: imagegen.EntryCharge, Charge: imagegen.ChargeID(g.ID), Credits: -8, Balance: 15},
		{Seq: 6, Kind: imagegen.EntryCharge, Charge: "of another program", Credits: -1, Balance: 23},
		{Seq: 5, Kind: imagegen.EntryGrant, Ref: "console-XYZ", Credits: 24, Balance: 24},
	}
	a := v.get("credits")
	rows := a.table(ledgerTable)
	s.is.Equal(len(rows), 5)
	for i, want := range []string{
		"Expired | | −12,345 | 5 |",
		"Taken back | chargeback 7 | −5 | 10 |",
		"Charged | " + string(g.ID) + " erased | −8 | 15 |",
		"Charged | of another program erased | −1 | 23 |",
		"Granted | | +24 | 24 |",
	} {
		s.is.True(strings.HasPrefix(rows[i], want))
	}
	s.is.True(!a.has("secret"))
}

func TestPagesOfTheLedger(t *testing.T) {
	s := open(t)
	v, bob := s.signedIn("alice"), s.signedIn("bob")
	for i := range 50 {
		s.Grant(t, v.user.ID, imagegen.Credits(1000+i))
		s.Grant(t, bob.user.ID, 7)
	}
	address := "credits?days=90"
	var rows []string
	for page := range 3 {
		a := v.get(address)
		s.is.Equal(a.has(`href="/console/credits?days=90#ledger">Newest</a>`), page > 0)
		s.is.True(a.has(`aria-current="true">90 days</a>`)) // what else was chosen stays
		rows = append(rows, a.table(ledgerTable)...)
		s.is.Equal(len(rows), min(50, 20*(page+1)))
		address = a.next()
		s.is.Equal(address == "", page == 2)
		s.is.Equal(a.has(`#ledger" rel="next"`), page < 2)
	}
	for i, row := range rows {
		s.is.True(strings.HasPrefix(row, fmt.Sprintf("Granted | | +1,%03d |", 49-i)))
	}
	s.is.True(v.get("credits?before=1").has("There are no older entries.", ">Newest</a>"))
	for _, wrong := range []string{"x", "-1", "18446744073709551616"} {
		a := v.get("credits?before=" + wrong)
		s.is.Equal(a.StatusCode, http.StatusBadRequest)
		s.is.True(a.has("before must be a number"))
	}
}

// A generation has one row, no matter on which pages its charge and its settlement are. Entries made meanwhile take no
// row from the next page.
func TestPagesOfGenerations(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	s.Grant(t, v.user.ID, 100)
	for i := range 24 {
		prompt := fmt.Sprintf("prompt %02d.", i)
		if i%5 == 0 {
			prompt += " [fake:fail]"
		}
		v.generate(prompt)
	}
	_, err := v.As(v.user.ID).Generate(t.Context(), imagegen.GenerateRequest{Model: "fake-1",
		Prompt: "open [fake:delay=1h]", Async: true})
	s.is.NoErr(err)
	var names []string
	for address, pages := "credits", 0; address != ""; pages++ {
		s.is.True(pages < 3)
		a := v.get(address)
		rows := a.table(ledgerTable)
		s.is.True(len(rows) <= 20)
		for _, row := range rows {
			names = append(names, regexp.MustCompile(`prompt \d\d|open|^Granted`).FindString(row))
		}
		if address = a.next(); address != "" {
			v.generate("newer") // while the first page is looked at
		}
	}
	s.is.Equal(len(names), 26)
	s.is.Equal(names[0], "open")
	for i, name := range names[1:25] {
		s.is.Equal(name, fmt.Sprintf("prompt %02d", 23-i))
	}
	s.is.Equal(names[25], "Granted")
}

func TestSpending(t *testing.T) {
	s, b := withBook(t)
	v := s.signedIn("alice")
	today := s.clock.Now().Truncate(24 * time.Hour)
	a := v.get("credits")
	s.is.True(b.to.Equal(today) && b.from.Equal(today.AddDate(0, 0, -29)))
	s.is.True(a.has("Nothing was spent in these 30 days.", `href="/console/credits?days=365"`))
	s.is.True(!a.has("<details>"))

	b.days = []chart.Day{{Date: today, Amount: 1}} // one
	a = v.get("credits?days=nonsense")
	s.is.True(a.has(`<span class="amount">1</span> credit in 30 days, all of them on ` + today.Format("2 Jan 2006") + "."))
	s.is.Equal(a.table(daysTable), []string{today.Format("2 Jan 2006") + " | 1"})
	s.is.Equal(strings.Count(a.body, `<rect class="bar"`), 1)

	first := today.AddDate(0, 0, -89)
	b.days = []chart.Day{{Date: first, Amount: 1500}, {Date: first.AddDate(0, 0, 1), Amount: 20},
		{Date: today, Amount: 1500}}
	a = v.get("credits?days=90")
	s.is.True(b.from.Equal(first))
	s.is.True(a.has(`<span class="amount">3,020</span> credits in 90 days, most of them on `+today.Format("2 Jan 2006")+
		": 1,500.", `aria-current="true">90 days</a>`))
	s.is.Equal(a.table(daysTable), []string{
		today.Format("2 Jan 2006") + " | 1,500", first.AddDate(0, 0, 1).Format("2 Jan 2006") + " | 20",
		first.Format("2 Jan 2006") + " | 1,500",
	})
	s.is.True(a.has(`<title>` + first.Format("2 Jan 2006") + `: 1,500 credits</title>`))
}

// A page says how to get credits to a user who has none. An operator can grant them to themselves.
func TestNoCredits(t *testing.T) {
	s := open(t)
	for name, v := range map[string]*visitor{"alice": s.signedIn("alice"), "olivia": s.operator()} {
		for _, path := range []string{"playground", "credits"} {
			a := v.get(path)
			s.is.Equal(a.has("ask the operator of this service for some"), name == "alice")
			s.is.Equal(a.has(`<a href="/console/users/usr_`, "grant yourself some"), name == "olivia")
		}
		tooFew := v.post("playground", "prompt", "a fox")
		s.is.Equal(tooFew.has("This costs 1 credit, and there are 0 credits. Ask the operator for credits."),
			name == "alice")
		s.is.Equal(tooFew.has("This costs 1 credit, and there are 0 credits. Grant yourself credits."),
			name == "olivia")
	}
}
