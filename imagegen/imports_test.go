package imagegen_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
)

const (
	module  = "github.com/imagegend/imagegend"
	console = module + "/imagegen/console"
)

type goPackage struct {
	ImportPath string
	Imports    []string
	Deps       []string
	Module     *struct{ Path string }
}

func goList(t *testing.T, dir string, args ...string) []goPackage {
	t.Helper()
	out := goOutput(t, dir, append([]string{"list", "-json=ImportPath,Imports,Deps,Module"}, args...)...)
	var packages []goPackage
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		switch err := d.Decode(&p); {
		case errors.Is(err, io.EOF):
			return packages
		case err != nil:
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

// goOutput returns what a go command prints in a directory.
func goOutput(t *testing.T, dir string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, &stderr)
	}
	return out
}

// Each library is imported only where docs/design.md says, and what an embedder imports stays small. That a module
// imports only what its go.mod requires, the go command sees to.
func TestImportRules(t *testing.T) {
	only := map[string][]string{ // import path prefix → packages that may import it
		"go.etcd.io/bbolt":                    {module + "/imagegen/storage", module + "/bench/reference"},
		"github.com/julienschmidt/httprouter": {module + "/imagegen/httpapi", module + "/bench/reference"},
		"github.com/getkin/":                  {module + "/imagegen/httpapi/openapi/openapitest"},
		"github.com/failsafe-go/":             {module + "/imagegen/provider/router"},
		"golang.org/x/oauth2":                 {module + "/imagegen/provider/gemini/vertex", console + "/oidc"},
		"github.com/coreos/":                  {console + "/oidc", console + "/oidc/oidctest"},
		"github.com/go-webauthn/":             {console + "/passkey", console + "/passkey/passkeytest"},
		"github.com/prometheus/":              {module + "/imagegen/metrics", module + "/cmd/imagegend"},
		console + "/oidc":                     {module + "/cmd/imagegend"},
		console + "/passkey":                  {module + "/cmd/imagegend"},
	}
	trees := []string{module + "/cmd/imagegend"} // allowed with all that lies below
	embeddable := []string{module + "/imagegen", module + "/imagegen/storage", module + "/imagegen/storage/memory",
		module + "/imagegen/provider", module + "/imagegen/provider/cassette", module + "/imagegen/engine"}
	contract := module + "/imagegen" // of all that lies around it
	apart := []string{contract + "/storage", contract + "/provider", contract + "/client", contract + "/account"}
	rooms := map[string][]string{ // of the engine → what each may import but the contract
		"schedule":   {"engine/internal/bound"},
		"thumbnails": {"internal/picture"},
		"uploads":    {"internal/picture", "engine/internal/stream", module + "/internal/share"},
		"waiting":    {module + "/internal/share"},
	}
	pages := map[string][]string{ // the console's rooms → the other rooms that each may import
		"signin": nil, "operator": {"keys"}, "system": nil, "gallery": nil, "playground": {"gallery"}, "credits": nil,
		"keys": nil,
	}
	for _, p := range goList(t, "..", "work") { // of every module in go.work
		t.Run(strings.TrimPrefix(p.ImportPath, module), func(t *testing.T) {
			is := is.New(t)
			for _, imported := range p.Imports {
				for library, allowed := range only {
					if strings.HasPrefix(imported, library) && !slices.ContainsFunc(allowed, func(a string) bool {
						return p.ImportPath == a || slices.Contains(trees, a) && strings.HasPrefix(p.ImportPath, a+"/")
					}) {
						t.Errorf("imports %s, which only %v may", imported, allowed)
					}
				}
				is.True(!isTestPackage(imported) || isTestPackage(p.ImportPath)) // suites are for tests
			}
			if !isTestPackage(p.ImportPath) {
				is.True(!slices.Contains(p.Deps, "testing")) // production code does not carry package testing
			}
			if p.ImportPath == contract {
				is.True(!slices.ContainsFunc(p.Deps, func(d string) bool { return strings.HasPrefix(d, module) }))
			}
			if slices.ContainsFunc(apart, func(a string) bool {
				return p.ImportPath == a || strings.HasPrefix(p.ImportPath, a+"/")
			}) && !isTestPackage(p.ImportPath) {
				is.True(!slices.Contains(p.Deps, contract+"/engine")) // the rules stand above what they stand on
			}
			if room, ok := strings.CutPrefix(p.ImportPath, contract+"/engine/internal/"); ok {
				others := slices.DeleteFunc(slices.Clone(p.Imports), func(i string) bool {
					return !strings.HasPrefix(i, module) || i == contract ||
						slices.Contains(rooms[room], strings.TrimPrefix(i, contract+"/"))
				})
				is.Equal(others, []string{}) // a room knows neither the engine nor, but for these, another room
			}
			if own, ok := strings.CutPrefix(p.ImportPath, console+"/internal/"); ok {
				for room := range pages { // the frame, and what rooms share, know no room
					is.True(!slices.Contains(p.Imports, console+"/internal/"+room) || slices.Contains(pages[own], room))
				}
			}
			if slices.Contains(embeddable, p.ImportPath) {
				is.True(!slices.Contains(p.Deps, "net/http"))
			}
		})
	}
}

func isTestPackage(path string) bool {
	return strings.HasPrefix(path, module) && strings.HasSuffix(path, "test") || strings.HasPrefix(path, module+
		"/proof/")
}

// The most modules that the library may bring.
const (
	mostRequired = 12 // direct requirements of its go.mod
	mostInGraph  = 40 // modules that "go list -m all" lists for a program that embeds it
)

// program is one that imports packages of ours, from these modules of the tree but the library.
type program struct {
	imports, modules []string
	gains            []string // the modules of others that are compiled into it
}

// light is a program that embeds the service and no more.
var light = program{
	imports: []string{"imagegen", "imagegen/engine", "imagegen/provider", "imagegen/provider/cassette",
		"imagegen/storage"},
	gains: []string{"github.com/oklog/ulid/v2", "go.etcd.io/bbolt", "golang.org/x/image", "golang.org/x/sync",
		"golang.org/x/sys"},
}

// What a program does not import, it does not get: neither the module of ours nor those that this requires.
func TestModulesComeWithTheirPackages(t *testing.T) {
	common := []string{"github.com/oklog/ulid/v2", "golang.org/x/image", "golang.org/x/sync",
		"golang.org/x/sys"}
	for name, p := range map[string]program{
		"over HTTP, with sign-ins of its own": {
			imports: []string{"imagegen/httpapi", "imagegen/httpapi/openai", "imagegen/client",
				"imagegen/storage/memory"},
			gains: []string{"github.com/julienschmidt/httprouter", "github.com/segmentio/asm"},
		},
		"on its PostgreSQL": {
			imports: []string{"imagegen/engine", "imagegen/storage/postgres"},
			modules: []string{"imagegen/storage/postgres"},
			gains: []string{"github.com/jackc/pgpassfile", "github.com/jackc/pgservicefile", "github.com/jackc/pgx/v5",
				"github.com/jackc/puddle/v2", "golang.org/x/text"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			want := append(slices.Concat(common, p.gains), module)
			for _, m := range p.modules {
				want = append(want, module+"/"+m)
			}
			dir := embedder(t, p)
			is.Equal(modulesBuilt(t, dir), slices.Sorted(slices.Values(want)))
			for path := range goModules(t, dir) {
				is.True(!strings.HasPrefix(path, module) || slices.Contains(want, path))
			}
		})
	}
}

// embedder returns the directory of a module with the program.
func embedder(t *testing.T, p program) (dir string) {
	t.Helper()
	is := is.New(t)
	dir = t.TempDir()
	write := func(name, text string) { is.NoErr(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)) }
	source := "package main\n\nimport (\n"
	for _, path := range p.imports {
		source += "\t_ \"" + module + "/" + path + "\"\n"
	}
	write("main.go", source+")\n\nfunc main() {}\n")
	mod, sums := "module throwaway\n\ngo 1.26.0\n", ""
	for _, m := range append([]string{"."}, p.modules...) {
		root, err := filepath.Abs(filepath.Join("..", m))
		is.NoErr(err)
		name := path.Join(module, m)
		mod += "\nrequire " + name + " v0.0.0\n\nreplace " + name + " => " + root + "\n"
		sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
		is.NoErr(err)
		sums += string(sum)
	}
	write("go.mod", mod)
	write("go.sum", sums)
	tidy := exec.Command("go", "mod", "tidy")
	tidy.Dir = dir
	if out, err := tidy.CombinedOutput(); err != nil {
		t.Fatalf("go mod tidy: %v\n%s", err, out)
	}
	return dir
}

// A program that embeds the service gains five small modules at most, and its module graph stays small.
func TestEmbeddingIsLight(t *testing.T) {
	is := is.New(t)
	dir := embedder(t, light)
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	is.NoErr(err)
	graph := goModules(t, dir)
	is.True(len(graph) <= mostInGraph)
	for path := range graph {
		is.True(path == module || !strings.HasPrefix(path, module)) // the library requires no other module of the tree
	}
	is.True(directRequirements(t, "..") <= mostRequired)
	var required []string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "require ")
		if path, version, ok := strings.Cut(line, " v"); ok && path != module && version != "" &&
			strings.Contains(path, ".") {
			required = append(required, path)
		}
	}
	is.Equal(slices.Sorted(slices.Values(required)), light.gains)
	is.Equal(modulesBuilt(t, dir), slices.Sorted(slices.Values(append(light.gains, module))))

	compiled := goList(t, dir, ".")
	is.Equal(len(compiled), 1)
	is.True(!slices.Contains(compiled[0].Deps, "net/http"))
}

// goModules returns the paths of the modules in the graph of the module in dir.
func goModules(t *testing.T, dir string) map[string]bool {
	t.Helper()
	paths := make(map[string]bool)
	for line := range strings.Lines(string(goOutput(t, dir, "list", "-m", "-f", "{{.Path}}", "all"))) {
		paths[strings.TrimSpace(line)] = true
	}
	return paths
}

// directRequirements counts what the go.mod in dir requires for packages of its own.
func directRequirements(t *testing.T, dir string) (n int) {
	t.Helper()
	var mod struct{ Require []struct{ Indirect bool } }
	if err := json.Unmarshal(goOutput(t, dir, "mod", "edit", "-json"), &mod); err != nil {
		t.Fatal(err)
	}
	for _, r := range mod.Require {
		if !r.Indirect {
			n++
		}
	}
	return n
}

// modulesBuilt are those of which a program is made, but for its own.
func modulesBuilt(t *testing.T, dir string) (built []string) {
	t.Helper()
	for _, p := range goList(t, dir, "-deps", ".") {
		if p.Module != nil && p.Module.Path != "throwaway" {
			built = append(built, p.Module.Path)
		}
	}
	slices.Sort(built)
	return slices.Compact(built)
}
