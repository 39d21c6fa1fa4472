package conformance_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

var userCommandChecks = []check{
	{
		name: "the user commands",
		lines: []string{
			"contract: | `user create NAME",
			"contract: `next_expiration`: null, or",
			"contract: `--data-dir` on every administrative command",
			"contract: Timestamps `2006-01-02T15:04:05.000Z`",
		},
		daemon: checkUserCommands,
	},
	{
		name: "the key commands",
		lines: []string{"contract: | `key create --user NAME",
			"contract: `--data-dir` on every administrative command"},
		daemon: checkKeyCommands,
	},
}

var creditCommandChecks = []check{
	{
		name: "the credit commands",
		lines: []string{"contract: | `credit grant --user NAME N",
			"contract: `--data-dir` on every administrative command"},
		daemon: checkCreditCommands,
	},
	{
		name:      "which credits are consumed first",
		lines:     []string{"contract: | `credit grant --user NAME N"},
		elsewhere: []string{"imagegen/storage/internal/ledger.TestOrderOfConsumption"},
	},
}

// withAndWithout does the same beside a running server and without one.
func withAndWithout(t *testing.T, do func(t *testing.T, d *daemontest.Daemon)) {
	t.Run("beside a server", func(t *testing.T) { do(t, daemontest.Start(t, daemontest.Options{})) })
	t.Run("without a server", func(t *testing.T) {
		d := daemontest.Start(t, daemontest.Options{})
		is.New(t).Equal(d.Terminate(exitLimit), 0)
		do(t, d)
	})
}

func checkUserCommands(t *testing.T) {
	withAndWithout(t, func(t *testing.T, d *daemontest.Daemon) {
		same(t, listOf(t, command(t, d, "user", "list", "--json").succeeds(t).stdout), []object(nil))
		command(t, d, "user", "create", "bob").succeeds(t)
		command(t, d, "user", "create", "alice", "--account-type", "PRO", "--credits", "1000").succeeds(t)
		alice := object{"id": pattern(`usr_\w+`), "name": "alice", "account_type": "PRO", "role": "user",
			"credits": 1000, "created_at": timestamp, "disabled_at": nil, "suspended_at": nil}
		bob := with(alice, object{"name": "bob", "account_type": "FREE", "credits": 0})
		list := func() []object {
			t.Helper()
			return listOf(t, command(t, d, "user", "list", "--json").succeeds(t).stdout)
		}
		same(t, list(), []object{alice, bob})

		command(t, d, "user", "create", "alice", "--credits", "5").fails(t, 1, "alice")
		command(t, d, "user", "create", "carol", "--account-type", "p-r-o").fails(t, 1, "p-r-o", "A-Z")
		command(t, d, "user", "set", "alice", "--account-type", "not so").fails(t, 1, "not so")
		command(t, d, "user", "set", "nobody", "--account-type", "PRO").fails(t, 1, "nobody")
		command(t, d, "user", "disable", "nobody").fails(t, 1, "nobody")
		same(t, list(), []object{alice, bob})

		command(t, d, "user", "set", "alice", "--account-type", "team_1").succeeds(t)
		command(t, d, "user", "disable", "bob").succeeds(t)
		same(t, list(), []object{with(alice, object{"account_type": "TEAM_1"}),
			with(bob, object{"disabled_at": timestamp})})
		says(t, command(t, d, "user", "list").succeeds(t).stdout, "alice", "TEAM_1", "1000", "bob")
	})
}

func checkKeyCommands(t *testing.T) {
	withAndWithout(t, func(t *testing.T, d *daemontest.Daemon) {
		is := is.New(t)
		command(t, d, "user", "create", "alice").succeeds(t)
		made := command(t, d, "key", "create", "--user", "alice", "--name", "laptop", "--expires-in", "720h").
			succeeds(t)
		is.True(keyForm.MatchString(strings.TrimSuffix(made.stdout, "\n"))) // the key alone
		is.True(made.stderr != "")
		is.True(!strings.Contains(made.stderr, strings.TrimSpace(made.stdout)))
		command(t, d, "key", "create", "--user", "nobody").fails(t, 1, "nobody")
		command(t, d, "key", "create", "--user", "alice", "--expires-in", "720").fails(t, 2, "720")

		keys := func() []object {
			t.Helper()
			return listOf(t, command(t, d, "key", "list", "--user", "alice", "--json").succeeds(t).stdout)
		}
		laptop := object{"id": pattern(`key_\w+`), "name": "laptop", "prefix": made.stdout[:15],
			"created_at": timestamp, "expires_at": timestamp, "revoked_at": nil, "last_used_at": nil,
			"limits": map[string]any{"credits": 0, "daily_credits": 0, "monthly_credits": 0, "at_once": 0}}
		same(t, keys(), []object{laptop})
		id := keys()[0]["id"].(string)
		command(t, d, "key", "revoke", "key_01KAJ1V5W8Z0M5QY7GJ7T9C2RE").fails(t, 1, "key_01KAJ1V5W8Z0M5QY7GJ7T9C2RE")
		command(t, d, "key", "revoke", id).succeeds(t)
		same(t, keys(), []object{with(laptop, object{"revoked_at": timestamp})})
	})
}

func checkCreditCommands(t *testing.T) {
	withAndWithout(t, func(t *testing.T, d *daemontest.Daemon) {
		command(t, d, "user", "create", "alice").succeeds(t)
		credits := func() any {
			t.Helper()
			return listOf(t, command(t, d, "user", "list", "--json").succeeds(t).stdout)[0]["credits"]
		}
		for range 3 { // a retried script never doubles money
			command(t, d, "credit", "grant", "--user", "alice", "100", "--ref", "invoice-1").succeeds(t)
		}
		same(t, credits(), 100)
		command(t, d, "credit", "grant", "--user", "alice", "101", "--ref", "invoice-1").fails(t, 1, "invoice-1")
		command(t, d, "credit", "grant", "--user", "nobody", "1").fails(t, 1, "nobody")
		for _, amount := range []string{"0", "1.5", "many", "9007199254740992"} {
			command(t, d, "credit", "grant", "--user", "alice", amount).fails(t, 2, amount)
		}
		command(t, d, "credit", "grant", "--user", "alice", "1", "--expires-in", "1h", "--expires-at",
			"2099-01-01T00:00:00Z").fails(t, 2, "expires-in", "expires-at")
		same(t, credits(), 100)
		command(t, d, "credit", "grant", "--user", "alice", "20", "--expires-at", "2099-01-01T00:00:00Z", "--promo",
			"--priority", "1").succeeds(t)
		command(t, d, "credit", "grant", "--user", "alice", "3", "--expires-in", "1h").succeeds(t)
		same(t, credits(), 123)
		command(t, d, "credit", "revoke", "--user", "alice", "23", "--ref", "refund-1").succeeds(t)
		command(t, d, "credit", "revoke", "--user", "alice", "23", "--ref", "refund-1").succeeds(t)
		same(t, credits(), 100)
		command(t, d, "credit", "revoke", "--user", "alice", "101").fails(t, 1, "101")

		history := listOf(t, command(t, d, "credit", "history", "--user", "alice", "--json").succeeds(t).stdout)
		for _, e := range history {
			same(t, slices.Sorted(maps.Keys(e)), []string{"actor", "balance", "credits", "generation", "kind", "ref",
				"seq", "time", "used"})
		}
		var did []any
		for _, e := range history {
			did = append(did, []any{e["kind"], e["credits"], e["balance"], e["ref"]})
		}
		same(t, did, []any{
			[]any{"revoke", -23, 100, "refund-1"}, []any{"grant", 3, 123, ""}, []any{"grant", 20, 120, ""},
			[]any{"grant", 100, 100, "invoice-1"},
		})
	})
}
