package cli_test

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/cli"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage"
)

// The tables say who pays for whom, by name.
func TestTeamInTables(t *testing.T) {
	is := is.New(t)
	withAlice(t)
	does := func(args ...string) string {
		t.Helper()
		got := imagegend(t, nil, args...)
		is.Equal(got.code, cli.ExitOK)
		return got.stdout
	}
	does("user", "create", "zoe")
	does("credit", "grant", "--user", "alice", "5")
	does("user", "sponsor", "zoe", "--by", "alice", "--limit", "day=3")
	does("key", "create", "--user", "alice", "--on-behalf", "--members", "40")
	db, err := storage.Open("imagegend-data", nil)
	is.NoErr(err)
	alice, err := db.UserByName(t.Context(), "alice")
	is.NoErr(err)
	zoe, err := db.UserByName(t.Context(), "zoe")
	is.NoErr(err)
	is.NoErr(db.Charge(t.Context(), imagegen.Charge{ID: "gen_1", User: alice.ID, Member: zoe.ID, Credits: 2, N: 1,
		Model: "fake-1"}))
	is.NoErr(db.Close())

	row := func(table, begins string) []string {
		t.Helper()
		for line := range strings.Lines(table) {
			if strings.HasPrefix(line, begins) {
				return strings.Fields(line)
			}
		}
		t.Fatalf("no line begins with %q in\n%s", begins, table)
		return nil
	}
	column := func(table, begins, title string) string {
		t.Helper()
		head, _, _ := strings.Cut(table, "\n")
		at := strings.Index(head, title)
		is.True(at >= 0)
		n := len(strings.Fields(strings.ReplaceAll(head[:at], " TYPE", "_TYPE")))
		return row(table, begins)[n]
	}
	is.Equal(column(does("user", "list"), "zoe", "SPONSOR"), "alice")
	is.Equal(column(does("user", "list"), "alice", "SPONSOR"), "-")
	is.Equal(column(does("key", "list", "--user", "alice"), "key_", "MEMBERS"), "40")
	says(t, does("credit", "history", "--user", "alice", "--limit", "1"), "MEMBER", " zoe ")
	says(t, does("usage", "--user", "alice", "--by", "member"), "MEMBER", "zoe     2 ")
	for _, flags := range [][]string{{"--by", ""}, {"--none=false"}, {"--by="}} { // an empty variable ends nothing
		got := imagegend(t, nil, append([]string{"user", "sponsor", "zoe"}, flags...)...)
		is.Equal(got.code, cli.ExitUsage)
		says(t, got.stderr, "--by names the sponsor")
	}
	is.Equal(column(does("user", "list"), "zoe", "SPONSOR"), "alice")
	for _, n := range []string{"0", "-1", "many"} { // it would be a key for alice alone
		got := imagegend(t, nil, "key", "create", "--user", "alice", "--on-behalf", "--members", n)
		is.Equal(got.code, cli.ExitUsage)
		says(t, got.stderr, "write a whole number from 1")
	}
}
