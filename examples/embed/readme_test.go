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

// block is the n-th block of Go in a document below a heading.
func block(t *testing.T, document, heading string, n int) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, document))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n"+heading+"\n")
	if !found {
		t.Fatalf("%s has no heading %s", document, heading)
	}
	return regexp.MustCompile("(?ms)^```go\n(.*?)^```$").FindAllStringSubmatch(section, -1)[n][1]
}

// The documents' code for embedding makes a program that works.
func TestDocumentedEmbedding(t *testing.T) {
	is := is.New(t)
	program := "package main\n" + strings.Replace(block(t, "README.md", "## Embed it", 0), "import (",
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
	` + block(t, "README.md", "## Embed it", 1) + `
	if err != nil {
		return err
	}
	return ask(ctx, alice)
}

func ask(ctx context.Context, alice imagegen.Service) error {
	` + block(t, "docs/embedding.md", "## Waiting, repeating, failing", 0) + `
	return nil
}
`
	is.Equal(draws(t, program), "")
}

// The first step of the path is a whole program. Those after it change a line or two, which fit together.
func TestDocumentedPath(t *testing.T) {
	is := is.New(t)
	is.Equal(draws(t, block(t, "docs/embedding.md", "### 1. In memory", 0)), "1 spent, 9 left\n")
	program := `package main

import (
	"context"
	"os"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/provider/openai"
	"github.com/imagegend/imagegend/imagegen/storage"
)

func main() {}

func steps(ctx context.Context, markup func(context.Context, imagegen.UserID) (imagegen.Credits, error),
	inAYear time.Time) error {
`
	for _, step := range []string{"### 2. In a directory", "### 3. A real provider", "### 5. Prices",
		"### 6. Payments and billing"} {
		program += block(t, "docs/embedding.md", step, 0) + "\n"
	}
	built(t, program+"\nreturn err\n}\n")
}

// built builds a program, which leaves the same line out again and again, and returns its directory.
func built(t *testing.T, program string) (dir string) {
	t.Helper()
	is := is.New(t)
	program = strings.ReplaceAll(program, "// …", "if err != nil { return err }")
	dir = t.TempDir()
	is.NoErr(os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o600))
	build := exec.Command("go", "build", "-o", dir, filepath.Join(dir, "main.go"))
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s\n%s", err, out, program)
	}
	return dir
}

// draws runs a program that leaves a picture, and returns what it prints.
func draws(t *testing.T, program string) string {
	t.Helper()
	is := is.New(t)
	dir := built(t, program)
	run := exec.Command(filepath.Join(dir, "main"))
	run.Dir = dir
	out, err := run.CombinedOutput()
	is.NoErr(err)
	picture, err := os.ReadFile(filepath.Join(dir, "fox.png"))
	is.NoErr(err)
	is.True(strings.HasPrefix(string(picture), "\x89PNG"))
	return string(out)
}
