package clients

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
	"github.com/imagegend/imagegend/imagegen/httpapi/openapi"
)

const oapiCodegen = "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2"

// workshop is a directory with the document, where clients are generated and built.
type workshop struct {
	*testing.T
	is  *is.I
	dir string
}

func newWorkshop(t *testing.T) *workshop {
	t.Helper()
	w := &workshop{t, is.New(t), t.TempDir()}
	w.write("openapi.json", openapi.Document())
	return w
}

func (w *workshop) write(name string, b []byte) {
	w.Helper()
	w.is.NoErr(os.WriteFile(filepath.Join(w.dir, name), b, 0o600))
}

func (w *workshop) copy(from, to string) {
	w.Helper()
	b, err := os.ReadFile(from)
	w.is.NoErr(err)
	w.write(to, b)
}

// run runs a program there and returns what it writes.
func (w *workshop) run(name string, args ...string) []byte {
	w.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = w.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	return out
}

// makes has a generated client make an image.
func (w *workshop) makes(name string, args ...string) {
	w.Helper()
	d := daemontest.Start(w, daemontest.Options{})
	_, key := d.NewUser(10)
	answer := w.run(name, append(args, d.URL, key)...)
	var left struct{ Credits int }
	w.is.NoErr(json.Unmarshal(answer, &left))
	s := &site{T: w.T, is: w.is, url: d.URL, key: key}
	s.brings(answer)
	w.is.Equal(left.Credits, 9)
}

// The client that oapi-codegen generates compiles, and makes an image.
func TestGeneratedGo(t *testing.T) {
	w := newWorkshop(t)
	for _, name := range []string{"main.go", "go.mod.txt", "go.sum.txt"} {
		w.copy(filepath.Join("testdata", "generated", name), trimmed(name))
	}
	w.run("go", "run", oapiCodegen, "-generate", "types,client", "-package", "main", "-o", "api.gen.go", "openapi.json")
	w.run("go", "build", "-mod=mod", "-o", "client", ".")
	w.makes("./client")
}

// trimmed is the name of a file that would make a module of its directory.
func trimmed(name string) string {
	if ext := filepath.Ext(name); ext == ".txt" {
		return name[:len(name)-len(ext)]
	}
	return name
}

// The types that openapi-typescript generates compile, strictly, and their client makes an image.
func TestGeneratedNode(t *testing.T) {
	w := newWorkshop(t)
	for _, name := range []string{"package.json", "tsconfig.json", "generate.ts"} {
		w.copy(filepath.Join("openapi", name), name)
	}
	modules, err := filepath.Abs(filepath.Join("openapi", "node_modules"))
	w.is.NoErr(err)
	w.is.NoErr(os.Symlink(modules, filepath.Join(w.dir, "node_modules")))
	w.run("node_modules/.bin/openapi-typescript", "openapi.json", "-o", "api.d.ts", "--default-non-nullable", "false")
	w.run("node_modules/.bin/tsc", "-p", ".")
	w.makes("node", "generate.js")
}
