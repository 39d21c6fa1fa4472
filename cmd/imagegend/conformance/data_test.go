package conformance_test

import (
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
)

var eraseChecks = []check{
	{
		name:      "generations are shown and erased",
		lines:     []string{"contract: | `generation show ID`, `generation delete ID` |", imageLine},
		daemon:    checkErase,
		elsewhere: []string{"imagegen/engine.TestErase", "imagegen/engine.TestRetention"},
	},
}

var auditChecks = []check{
	{
		name:  "audit",
		lines: []string{"contract: | `audit` |"},
		elsewhere: []string{"cmd/imagegend.TestAuditFindsDamage",
			"imagegen/storage/internal/ledger.TestCheckFindsDamage"},
	},
}

var backupChecks = []check{
	{name: "backup and restore", lines: []string{"contract: | `backup FILE`, `restore FILE` |"}, daemon: checkBackup},
	{
		name: "archives and directories that are refused",
		lines: []string{"contract: | `backup FILE`, `restore FILE` |",
			"contract: `--data-dir` on every administrative command"},
		daemon: checkRefusedRestore,
	},
}

func checkErase(t *testing.T) {
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{})
	a := serviceOf(d).account(t, 10)
	g := a.form(t, part{name: "prompt", value: "a secret fox"}, part{name: "n", value: "2"},
		reference("den.png", picture(8, 6))).is(t, http.StatusOK).object(t)
	id := g["id"].(string)
	shown := show(t, d, id)
	same(t, []any{shown["id"], shown["user"], shown["status"], shown["prompt"], shown["n"], shown["credits"],
		len(shown["images"].([]any))},
		[]any{id, a.user, "succeeded", "a secret fox", 2, 2, 2})
	says(t, command(t, d, "generation", "show", id).succeeds(t).stdout, id, a.user, "a secret fox", "succeeded")
	ledger := command(t, d, "credit", "history", "--user", a.user, "--json").succeeds(t).stdout

	command(t, d, "generation", "delete", id).succeeds(t)
	a.get(t, "/api/v1/generations/"+id).refused(t, http.StatusNotFound, "notFound")
	same(t, a.list(t, "")["data"], []any{})
	for _, address := range images(g) {
		a.call(t, request{address: address}).refused(t, http.StatusNotFound, "notFound")
	}
	command(t, d, "generation", "show", id).fails(t, 1, id)
	is.Equal(command(t, d, "credit", "history", "--user", a.user, "--json").succeeds(t).stdout, ledger)
	same(t, a.credits(t), 8)
	eventually(t, "no image is left", func() bool { return len(pictures(t, d.DataDir)) == 0 })
	command(t, d, "audit").succeeds(t)

	command(t, d, "generation", "delete", "gen_01KAJ1V5W8Z0M5QY7GJ7T9C2RE").
		fails(t, 1, "gen_01KAJ1V5W8Z0M5QY7GJ7T9C2RE")
	running := a.queued(t, object{"prompt": "[fake:hang]"})["id"].(string)
	command(t, d, "generation", "delete", running).fails(t, 1, running)
}

// pictures are the files in a directory that hold PNG.
func pictures(t *testing.T, dir string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		if content, err := os.ReadFile(path); err == nil && strings.HasPrefix(string(content), "\x89PNG") {
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func checkBackup(t *testing.T) {
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{Args: []string{"--base-url", "https://images.example.com"}})
	a := serviceOf(d).account(t, 10)
	g := a.generated(t, object{"n": 2}, "Idempotency-Key", "one")
	image := a.call(t, request{address: "/images/" + g["images"].([]any)[0].(object)["id"].(string)}).body
	dir := t.TempDir()
	archive := filepath.Join(dir, "backup.tar")
	command(t, d, "backup", archive).succeeds(t) // while the server runs
	stream := command(t, d, "backup", "-").succeeds(t).stdout
	is.True(len(stream) > len(image))
	a.generated(t, nil) // is not in them

	for name, restore := range map[string]func(to string) result{
		"file":   func(to string) result { return program{}.run(t, "restore", archive, "--data-dir", to) },
		"stream": func(to string) result { return program{stdin: stream}.run(t, "restore", "-", "--data-dir", to) },
	} {
		to := filepath.Join(dir, name)
		restore(to).succeeds(t)
		program{}.run(t, "audit", "--data-dir", to).succeeds(t)
		second := daemontest.Start(t, daemontest.Options{DataDir: to, Args: []string{"--base-url",
			"https://images.example.com"}})
		b := &customer{service: serviceOf(second), user: a.user, key: a.key}
		same(t, ids(b.list(t, "")), []any{g["id"]})
		same(t, b.generated(t, object{"n": 2}, "Idempotency-Key", "one"), g)
		is.Equal(string(b.call(t, request{address: "/images/" + g["images"].([]any)[0].(object)["id"].(string)}).body),
			string(image))
		same(t, b.credits(t), 8)
	}
}

func checkRefusedRestore(t *testing.T) {
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{})
	serviceOf(d).account(t, 10).generated(t, nil)
	dir := t.TempDir()
	archive := filepath.Join(dir, "backup.tar")
	command(t, d, "backup", archive).succeeds(t)
	command(t, d, "backup", archive).fails(t, 1, archive) // nothing is overwritten
	whole := read(t, archive)

	program{}.run(t, "restore", archive, "--data-dir", d.DataDir).fails(t, 1, d.DataDir)
	empty := filepath.Join(dir, "empty")
	is.NoErr(os.Mkdir(empty, 0o700))
	altered := []byte(whole)
	altered[len(altered)/2] ^= 1
	for name, content := range map[string]string{"truncated.tar": whole[:len(whole)/2], "altered.tar": string(altered),
		"text.tar": "a fox", "none.tar": ""} {
		program{}.run(t, "restore", write(t, content, dir, name), "--data-dir", empty).
			fails(t, 1, "nothing was restored")
		is.Equal(len(files(t, empty)), 0)
	}
	program{}.run(t, "restore", filepath.Join(dir, "absent.tar"), "--data-dir", empty).fails(t, 1, "absent.tar")
	program{}.run(t, "restore", archive, "--data-dir", empty).succeeds(t)
}
