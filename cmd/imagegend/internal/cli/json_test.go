package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/imagegen/storage"
)

// leaves are the commands that do something, but for those of cobra.
func leaves(c *cobra.Command) (all []*cobra.Command) {
	if !c.HasSubCommands() {
		return []*cobra.Command{c}
	}
	for _, sub := range c.Commands() {
		if name := sub.Name(); name != "completion" && name != "help" {
			all = append(all, leaves(sub)...)
		}
	}
	return all
}

// silent are the commands that have nothing to say to a program, or speak its language always.
var silent = []string{"imagegend serve", "imagegend openapi", "imagegend mcp", "imagegend man"}

// Every command prints its result as JSON for programs.
func TestEveryCommandTakesJSON(t *testing.T) {
	for _, c := range leaves(new(app).rootCommand()) {
		if !slices.Contains(silent, c.CommandPath()) && c.Flags().Lookup("json") == nil {
			t.Errorf("%s has no --json", c.CommandPath())
		}
	}
}

// Each command that does something shows how.
func TestEveryCommandHasAnExample(t *testing.T) {
	for _, c := range leaves(new(app).rootCommand()) {
		if !c.HasExample() {
			t.Errorf("%s has no example", c.CommandPath())
		}
	}
}

// session runs commands on one data directory and reads what they print.
type session struct {
	t   *testing.T
	dir string
}

// says runs a command with --json and returns the one object that it prints. Standard error stays empty.
func (s session) says(args ...string) map[string]any {
	s.t.Helper()
	var stdout, stderr bytes.Buffer
	if code := Run(s.t.Context(), append(args, "--json"), strings.NewReader(""), &stdout, &stderr); code != ExitOK ||
		stderr.Len() > 0 {
		s.t.Fatalf("%v: status %d\n%s%s", args, code, &stdout, &stderr)
	}
	var o map[string]any
	d := json.NewDecoder(&stdout)
	if err := d.Decode(&o); err != nil || d.More() {
		s.t.Fatalf("%v: no one object (%v)", args, err)
	}
	return o
}

func (s session) do(args ...string) map[string]any {
	s.t.Helper()
	return s.says(append(args, "--data-dir", s.dir)...)
}

func TestChangesInJSON(t *testing.T) {
	is := is.New(t)
	t.Chdir(t.TempDir())
	s := session{t, filepath.Join(t.TempDir(), "data")}
	db, err := storage.Open(s.dir, nil)
	is.NoErr(err)
	is.NoErr(db.Close())

	is.Equal(s.do("user", "create", "alice", "--credits", "5")["credits"], 5.0)
	is.Equal(s.do("user", "set", "alice", "--account-type", "PRO")["account_type"], "PRO")
	link := s.do("user", "invite", "alice", "--base-url", "https://a.example")
	is.True(strings.HasPrefix(link["address"].(string), "https://a.example/"))
	is.Equal(link["user"], "alice")
	is.True(link["expires_at"] != nil)
	key := s.do("key", "create", "--user", "alice")
	is.True(strings.HasPrefix(key["key"].(string), "img_live_"))
	is.True(s.do("key", "revoke", key["id"].(string))["revoked_at"] != nil)
	for _, repeated := range []bool{false, true} { // each is done once, however often it is asked for
		granted := s.do("credit", "grant", "--user", "alice", "7", "--ref", "invoice-1")
		is.Equal(granted["repeated"], repeated)
		taken := s.do("credit", "revoke", "--user", "alice", "2", "--ref", "mistake-1")
		is.Equal(taken["repeated"], repeated)
		is.Equal(taken["balance"], 10.0)
	}
	opsKey := s.do("ops-key", "create", "payments", "--scope", "credits,read", "--scope", "users")
	is.True(strings.HasPrefix(opsKey["key"].(string), "img_ops_"))
	is.Equal(opsKey["scopes"], []any{"credits", "read", "users"})
	is.True(opsKey["expires_at"] != nil)
	is.True(s.do("ops-key", "revoke", opsKey["id"].(string))["revoked_at"] != nil)
	is.Equal(s.do("clock", "show")["in_doubt"], false)
	is.Equal(s.do("clock", "confirm")["in_doubt"], false)
	is.Equal(s.do("user", "remove-passkeys", "alice")["name"], "alice")
	is.True(s.do("user", "suspend", "alice")["suspended_at"] != nil)
	is.Equal(s.do("user", "resume", "alice")["suspended_at"], nil)
	is.True(s.do("user", "disable", "alice")["disabled_at"] != nil)

	archive := filepath.Join(t.TempDir(), "a.tar")
	is.Equal(s.do("backup", archive)["file"], archive)
	other := filepath.Join(t.TempDir(), "other")
	is.Equal(s.says("restore", archive, "--data-dir", other)["data_dir"], other)
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	is.Equal(s.do("move", "--to-data-dir", elsewhere), map[string]any{"from": s.dir, "to": elsewhere})
	var rows, stderr bytes.Buffer
	is.Equal(Run(t.Context(), []string{"trail", "--json", "--data-dir", elsewhere}, strings.NewReader(""), &rows,
		&stderr), ExitOK)
	is.True(strings.Contains(rows.String(), "data.move"))
}

func TestImagesInJSON(t *testing.T) {
	is := is.New(t)
	t.Chdir(t.TempDir())
	made := session{t: t}.says("generate", "a fox", "--dev", "--n", "2", "--size", "64x64", "-o", "fox.png")
	is.Equal(made["files"], []any{"fox-1.png", "fox-2.png"})
	is.Equal(made["status"], "succeeded")
	for _, name := range made["files"].([]any) {
		_, err := os.Stat(name.(string))
		is.NoErr(err)
	}
}

// Standard output takes one thing.
func TestJSONBesideAStream(t *testing.T) {
	is := is.New(t)
	t.Chdir(t.TempDir())
	db, err := storage.Open("data", nil)
	is.NoErr(err)
	is.NoErr(db.Close())
	for _, line := range []string{"generate a --dev -o - --json", "backup - --data-dir data --json"} {
		var stdout, stderr bytes.Buffer
		is.Equal(Run(t.Context(), strings.Fields(line), strings.NewReader(""), &stdout, &stderr), ExitUsage)
		is.Equal(stdout.Len(), 0)
		is.True(strings.Contains(stderr.String(), "standard output takes"))
	}
}
