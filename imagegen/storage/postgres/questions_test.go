package postgres_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/postgres"
	"github.com/imagegend/imagegend/imagegen/storage/postgres/postgrestest"
)

// docs/schema.md names each table and each of its columns, and no others.
func TestSchemaIsDescribed(t *testing.T) {
	is, s := is.New(t), postgrestest.Start(t)
	url := s.Database(t)
	open(t, url)
	page := schemaPage(t)
	described := make(map[string]bool)
	for block := range strings.SplitSeq(page, "\n\n") {
		lines := strings.Split(strings.TrimSpace(block), "\n")
		named := func(line string) (all []string) {
			first, _, _ := strings.Cut(strings.TrimPrefix(line, "|"), "|")
			for _, m := range regexp.MustCompile("`([a-z_0-9]+)`").FindAllStringSubmatch(first, -1) {
				all = append(all, m[1])
			}
			return all
		}
		for _, table := range named(lines[0]) {
			for _, line := range lines[1:] {
				for _, column := range named(line) {
					described[table+"."+column] = true
				}
			}
		}
	}
	conn, err := pgx.Connect(t.Context(), s.Address(databaseOf(t, url)))
	is.NoErr(err)
	defer conn.Close(context.Background())
	rows, err := conn.Query(t.Context(),
		"select table_name || '.' || column_name from information_schema.columns where table_schema = 'imagegend'")
	is.NoErr(err)
	columns, err := pgx.CollectRows(rows, pgx.RowTo[string])
	is.NoErr(err)
	for _, c := range columns {
		if table, _, _ := strings.Cut(c, "."); !described[c] && table != "acts" {
			t.Errorf("docs/schema.md does not name %s", c)
		}
	}
}

func schemaPage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../../docs/schema.md")
	is.New(t).NoErr(err)
	return string(page)
}

// The questions of docs/schema.md have the answers that the service gives.
func TestQuestions(t *testing.T) {
	is, s, ctx := is.New(t), postgrestest.Start(t), t.Context()
	url := s.Database(t)
	db := open(t, url)
	is.NoErr(db.CreateUser(ctx, imagegen.User{ID: "alice", Name: "alice"}))
	is.NoErr(db.CreateKey(ctx, imagegen.Key{ID: "key_old", User: "alice", Hash: [32]byte{1},
		CreatedAt: time.Now().AddDate(-1, 0, 0)}))
	lapses := time.Now().UTC().AddDate(0, 1, -time.Now().UTC().Day()+1)
	_, err := db.Grant(ctx, imagegen.Grant{User: "alice", Credits: 7000, Expires: lapses.Add(time.Minute)})
	is.NoErr(err)
	for n := range 20 {
		is.NoErr(generate(db, n, "alice"))
	}
	r := record(100)
	r.CreatedAt = time.Now().UTC().Truncate(time.Millisecond)
	r, err = db.CreateCharged(ctx, r, time.Minute)
	is.NoErr(err)
	o := failed()
	o.At, o.Cost = r.CreatedAt, &imagegen.AttemptCost{Provider: "p", Images: 1, Cost: 5_000_000,
		Reason: imagegen.CostByImage}
	_, err = db.FinishSettled(ctx, r.Fence(), o)
	is.NoErr(err)
	queued(t, db, 200)

	conn, err := pgx.Connect(ctx, s.Address(databaseOf(t, url)))
	is.NoErr(err)
	defer conn.Close(context.Background())
	answers := answered(t, conn)
	is.Equal(len(answers), 10)
	text := func(question, row, column int) string { return fmt.Sprint(number(answers[question][row][column])) }

	var spent imagegen.Credits
	is.NoErr(db.EachUsage(ctx, time.Unix(0, 0), time.Now().AddDate(0, 0, 2), func(_ imagegen.UserID, u imagegen.Usage) {
		spent += u.Spent
	}))
	sum := 0.0
	for row := range answers[0] {
		sum += number(answers[0][row][2]).(float64)
	}
	is.Equal(sum, float64(spent)) // revenue
	var totals imagegen.Totals
	is.NoErr(db.EachTotals(ctx, time.Unix(0, 0), time.Now().AddDate(1, 0, 0), func(r imagegen.TotalsRow) {
		totals = totals.Plus(r.Totals)
	}))
	is.Equal(text(1, 0, 1), fmt.Sprint(float64(totals.Spent)))
	is.Equal(text(1, 0, 2), "5")             // cost
	is.Equal(text(2, 0, 0), "alice")         // waits
	is.Equal(answers[3][0][0], string(r.ID)) // failed
	b, err := db.Balance(ctx, "alice")
	is.NoErr(err)
	is.Equal(text(4, 0, 1), fmt.Sprint(float64(b.Credits))) // lapse
	history, err := db.History(ctx, "alice", 0, 100)
	is.NoErr(err)
	is.Equal(len(answers[5]), len(history))
	is.Equal(answers[6][0][0], "key_old")
	is.Equal(len(answers[7]), 1)
	is.Equal(len(answers[8])+len(answers[9]), 0)
}

// answered asks the questions of docs/schema.md.
func answered(t *testing.T, conn *pgx.Conn) (answers [][][]any) {
	t.Helper()
	for _, m := range regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(schemaPage(t), -1) {
		rows, err := conn.Query(t.Context(), m[1])
		is.New(t).NoErr(err)
		answer, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) ([]any, error) { return row.Values() })
		is.New(t).NoErr(err)
		answers = append(answers, answer)
	}
	return answers
}

// A database that bench/populate has filled is as the service writes it, but for the hashes of the journal, and the
// answers to the questions are the sums that the service has.
func TestFilledDatabase(t *testing.T) {
	is, s, ctx := is.New(t), postgrestest.Start(t), t.Context()
	url := s.Database(t)
	filled(t, url, 20, 2000, 100)
	db, err := postgres.Open(ctx, postgres.Config{URL: url})
	is.NoErr(err)
	defer db.Close()
	report, err := db.Audit(ctx)
	is.NoErr(err)
	is.Equal(report.Generations, 2000)
	is.Equal(report.Entries, 20) // the first of each journal
	for _, v := range report.Violations {
		if v.Rule != "journal chain" && v.Subject != "clock" {
			t.Error(v)
		}
	}
	var sums imagegen.Totals
	is.NoErr(db.EachTotals(ctx, time.Unix(0, 0), time.Now(), func(r imagegen.TotalsRow) { sums = sums.Plus(r.Totals) }))
	conn, err := pgx.Connect(ctx, s.Address(databaseOf(t, url)))
	is.NoErr(err)
	defer conn.Close(context.Background())
	answers := answered(t, conn)
	sum := func(question, column int) (sum float64) {
		for _, row := range answers[question] {
			sum += number(row[column]).(float64)
		}
		return sum
	}
	is.Equal(sum(0, 2), float64(sums.Spent)) // revenue
	is.Equal(sum(1, 1), float64(sums.Spent)) // margin
	is.Equal(sum(1, 2), float64(sums.Cost)/1e6)
	queued, err := db.Queued(ctx, "user_0")
	is.NoErr(err)
	is.Equal(sum(2, 3), float64(queued.All)) // who waits
	is.Equal(queued, imagegen.QueueLength{All: 100, Own: 10})
	is.Equal(len(answers[8])+len(answers[9]), 0) // nothing is amiss
}

// number is a value of a query as a number, if it is one.
func number(v any) any {
	if n, ok := v.(interface {
		Float64Value() (pgtype.Float8, error)
	}); ok {
		f, _ := n.Float64Value()
		return f.Float64
	}
	if n, ok := v.(int64); ok {
		return float64(n)
	}
	return v
}
