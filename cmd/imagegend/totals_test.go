package main_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/client/admin"
)

const costlyModels = `
models:
  - id: photo
    provider: {type: fake}
    credits: {1K: 5}
    cost: {image: 0.04}
  - id: sketch
    provider: {type: fake}
    credits: {1K: 2}
`

// table is what a command prints, with the columns of each line parted by bars.
func table(printed string) (lines []string) {
	for line := range strings.Lines(printed) {
		var cells []string
		for cell := range strings.SplitSeq(strings.TrimSpace(line), "  ") {
			if cell = strings.TrimSpace(cell); cell != "" {
				cells = append(cells, cell)
			}
		}
		lines = append(lines, strings.Join(cells, " | "))
	}
	return lines
}

// Commands and programs see to the millionth what all users brought in and cost, beside a server and without one.
func TestTotals(t *testing.T) {
	t.Parallel()
	is, ctx := is.New(t), t.Context()
	models := filepath.Join(t.TempDir(), "models.yaml")
	is.NoErr(os.WriteFile(models, []byte(costlyModels), 0o600))
	d := daemontest.Start(t, daemontest.Options{Models: true, Args: []string{"--models", models, "--credit-value",
		"0.0125", "--currency", "EUR", "--ops-addr", "127.0.0.1:0", "--ops-admin"}})
	alice, key := d.NewUser(100)
	bob, other := d.NewUser(100)
	var made daemontest.Generation
	for _, c := range []struct {
		key, model, prompt string
		n, status          int
	}{{key, "photo", "a fox", 2, http.StatusOK},
		{key, "photo", "a fox [fake:panic]", 1, http.StatusInternalServerError},
		{other, "photo", "a fox [fake:refuse]", 1, http.StatusInternalServerError},
		{key, "sketch", "a fox", 1, http.StatusOK}} {
		answer := d.Call(daemontest.Generate(c.key, map[string]any{"model": c.model, "prompt": c.prompt, "n": c.n,
			"size": "64x64"}))
		is.Equal(answer.Status, c.status)
		if c.status == http.StatusOK {
			answer.Into(t, &made)
		}
	}

	totals := func(args ...string) []string { return table(d.Admin(append([]string{"usage", "--all"}, args...)...)) }
	byUser := []string{"--by", "user,model"}
	want := []string{
		"MODEL | USER | GENERATIONS | IMAGES | CREDITS | REVENUE EUR | COST EUR | MARGIN EUR | UNKNOWN",
		"photo | " + alice + " | 2 | 2 | 10 | 0.125 | 0.08 | 0.045 | 1 of 2", // the provider panicked
		"photo | " + bob + " | 1 | 0 | 0 | 0.00 | 0.00 | 0.00 | 1 of 1",      // refused, perhaps after it was made
		"sketch | " + alice + " | 1 | 1 | 2 | 0.025 | 0.00 | 0.025 | 1 of 1", // no cost is set
	}
	is.Equal(cmp.Diff(want, totals(byUser...)), "")
	is.Equal(totals("--by", "none")[1], "4 | 3 | 12 | 0.15 | 0.08 | 0.07 | 3 of 4")
	is.Equal(d.Admin(append([]string{"usage", "--all", "--csv"}, byUser...)...),
		strings.NewReplacer("ALICE", alice, "BOB", bob).Replace(
			`model,user,generations,images,credits,revenue,cost,margin,currency,attempts,unknown
photo,ALICE,2,2,10,0.125,0.08,0.045,EUR,2,1
photo,BOB,1,0,0,0.00,0.00,0.00,EUR,1,1
sketch,ALICE,1,1,2,0.025,0.00,0.025,EUR,1,1
`))
	today := time.Now().UTC()
	yesterday := today.AddDate(0, 0, -1).Format(time.DateOnly)
	is.Equal(len(totals("--from", yesterday, "--to", yesterday)), 1)
	// A flag counts more than what the server was started with.
	is.Equal(totals("--by", "model", "--credit-value", "0.001")[:2], []string{
		"MODEL | GENERATIONS | IMAGES | CREDITS | REVENUE EUR | COST EUR | MARGIN EUR | UNKNOWN",
		"photo | 3 | 2 | 10 | 0.01 | 0.08 | -0.07 | 2 of 3"})

	_, raw := opsKey(d, "read")
	report, err := admin.SumTotals.Do(ctx, operator(t, d, raw), admin.TotalsQuery{By: []imagegen.UsageGroup{
		imagegen.UsageByKey, imagegen.UsageByModel, imagegen.UsageByUser}})
	is.NoErr(err)
	is.Equal(report.Currency, "EUR")
	is.Equal(report.CreditValue, admin.Money{Micros: 12_500})
	is.Equal(report.To.Sub(report.From.Time), 29*24*time.Hour)
	var keys []struct{ ID imagegen.KeyID }
	is.NoErr(json.Unmarshal([]byte(d.Admin("key", "list", "--user", alice, "--json")), &keys))
	photo := "photo"
	is.Equal(cmp.Diff(report.Rows[0], admin.TotalsRow{Model: &photo, User: &alice, Key: &keys[0].ID, Generations: 2,
		Images: 2, Spent: 10, Revenue: &admin.Money{Micros: 125_000}, Cost: admin.Money{Micros: 80_000},
		Margin: &admin.Money{Micros: 45_000}, Attempts: 2, Unknown: 1}), "")
	_, err = admin.SumTotals.Do(ctx, operator(t, d, raw), admin.TotalsQuery{By: []imagegen.UsageGroup{"moon"}})
	refused(t, err, http.StatusBadRequest, "invalid_request")
	says(t, err.Error(), "[day model key user payer]")

	// The JSON of the command is that of the call, and erasure changes neither.
	d.Admin("generation", "delete", made.ID)
	printed := d.Admin("usage", "--all", "--by", "user,model,key", "--json", "--credit-value", "0.0001")
	says(t, printed, `"credits_spent": 10`, `"revenue": "0.001"`, `"cost": "0.08"`, `"margin": "-0.079"`,
		`"unknown": 1`, `"day": null`)
	var rows []admin.TotalsRow
	is.NoErr(json.Unmarshal([]byte(printed), &rows))
	report.CreditValue.Micros = 100
	report.Evaluate()
	is.Equal(cmp.Diff(report.Rows, rows), "")

	// Without a server the command uses its own settings; without credit-value it shows no revenue.
	d.Clean(t)
	is.Equal(d.Terminate(drainLimit), 0)
	is.Equal(totals(append(byUser, "--credit-value", "0.0125", "--currency", "EUR")...), want)
	is.Equal(totals("--by", "none"), []string{
		"GENERATIONS | IMAGES | CREDITS | REVENUE USD | COST USD | MARGIN USD | UNKNOWN",
		"4 | 3 | 12 | - | 0.08 | - | 3 of 4"})
	says(t, d.Admin("usage", "--all", "--json"), `"revenue": null`, `"margin": null`, today.Format(time.DateOnly))
}

// The currency of costs is that of the first start. Another one is refused once there is a cost, and only then.
func TestCurrencyStays(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	models, dir := filepath.Join(t.TempDir(), "models.yaml"), t.TempDir()
	is.NoErr(os.WriteFile(models, []byte(costlyModels), 0o600))
	start := func(currency string) *daemontest.Daemon {
		return daemontest.Launch(t, daemontest.Options{Models: true, DataDir: dir,
			Args: []string{"--models", models, "--currency", currency}})
	}
	for _, c := range []struct{ currency, model string }{{"EUR", ""}, {"USD", "sketch"}, {"CHF", "photo"},
		{"CHF", ""}} {
		d := start(c.currency)
		is.NoErr(d.Ready())
		if c.model != "" {
			_, key := d.NewUser(100)
			is.Equal(d.Call(daemontest.Generate(key, map[string]any{"model": c.model, "prompt": "a fox"})).Status,
				http.StatusOK)
		}
		is.Equal(d.Terminate(drainLimit), 0)
	}
	d := start("USD")
	is.Equal(d.Wait(drainLimit), 1)
	says(t, d.Output(), "set to USD", "costs in CHF", "--currency CHF again")
}
