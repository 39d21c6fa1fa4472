package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"
)

const root = "../.."

// block is the n-th block of Go in a document.
func block(t *testing.T, document string, n int) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, document))
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile("(?ms)^```go\n(.*?)^```$").FindAllStringSubmatch(string(text), -1)[n][1]
}

// The documents' code for embedding makes a program that works. It leaves the same line out again and again.
func TestDocumentedEmbedding(t *testing.T) {
	is := is.New(t)
	program := "package main\n" + strings.Replace(block(t, "README.md", 0), "import (",
		"import (\n\"context\"\n\"errors\"\n\"io\"\n\"os\"\n", 1) + `
func main() {
	if err := run(context.Background()); err != nil {
		panic(err)
	}
}

func run(ctx context.Context) error {
	file, err := os.Create("fox.png")
	if err != nil {
		return err
	}
	` + block(t, "README.md", 1) + `
	if err != nil {
		return err
	}
	return ask(ctx, alice)
}

func ask(ctx context.Context, alice imagegen.Service) error {
	` + block(t, "docs/embedding.md", 0) + `
	return nil
}
`
	program = strings.ReplaceAll(program, "// …", "if err != nil { return err }")
	dir := t.TempDir()
	is.NoErr(os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o600))
	build := exec.Command("go", "build", "-o", dir, filepath.Join(dir, "main.go"))
	build.Dir = root
	out, err := build.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s\n%s", err, out, program)
	}
	run := exec.Command(filepath.Join(dir, "main"))
	run.Dir = dir
	out, err = run.CombinedOutput()
	is.Equal(string(out), "")
	is.NoErr(err)
	picture, err := os.ReadFile(filepath.Join(dir, "fox.png"))
	is.NoErr(err)
	is.True(strings.HasPrefix(string(picture), "\x89PNG"))
}
