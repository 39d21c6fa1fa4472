//go:build ignore

// Coverage holds the tests against every branch of the code that moves credits. The go command counts
// blocks of statements, and so does not see an if that is never false or a switch that always finds
// its case: here each of those gets an arm of its own, in a copy of the module, before the tests run.
package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	sources = []string{"imagegen/storage/internal/ledger/*.go", "imagegen/storage/internal/ledger/ledgerkv/*.go",
		"imagegen/storage/committer.go", "imagegen/invariant.go", "imagegen/state.go", "imagegen/engine/lifecycle.go",
		"imagegen/engine/settle.go", "imagegen/engine/outcome.go", "imagegen/engine/attempt.go",
		"imagegen/engine/recover.go", "imagegen/engine/lease.go"}
	covered = "./imagegen,./imagegen/engine,./imagegen/storage,./imagegen/storage/internal/ledger,./imagegen/storage/internal/ledger/ledgerkv"
	tests   = []string{"./imagegen", "./imagegen/engine", "./imagegen/storage/...", "./imagegen/storage/postgres/...",
		"./imagegen/storage/transfer/movetest", "./imagegen/imagegentest"}
)

const module, known = "github.com/imagegend/imagegend/", "proof/coverage.txt"

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "coverage:", err)
		os.Exit(1)
	}
}

// run gives every branch in the copy an arm, runs the tests there and prints the branches that none
// of them takes.
func run(copy string) error {
	reasons, err := os.ReadFile(known)
	if err != nil {
		return err
	}
	lines := make(map[string][]string)
	for _, pattern := range sources {
		names, _ := filepath.Glob(pattern)
		for _, name := range slices.DeleteFunc(names, func(n string) bool { return strings.HasSuffix(n, "_test.go") }) {
			source, err := withAllArms(name)
			if err != nil {
				return err
			}
			lines[name] = strings.Split(string(source), "\n")
			if err := os.WriteFile(filepath.Join(copy, name), source, 0o600); err != nil {
				return err
			}
		}
	}
	profile := filepath.Join(copy, "coverage.profile")
	test := exec.Command("go", append([]string{"test", "-count=1", "-coverpkg", covered, "-coverprofile", profile},
		tests...)...)
	test.Dir, test.Env = copy, append(os.Environ(), "PROOF_TIMES=1")
	if out, err := test.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	branches, missed, err := untaken(profile, lines)
	if err != nil {
		return err
	}
	unnamed := slices.DeleteFunc(slices.Clone(missed), func(m string) bool {
		return strings.Contains(string(reasons), m+"\n")
	})
	for _, m := range unnamed {
		fmt.Println(m)
	}
	fmt.Printf("proof coverage: branches=%d missed=%d unnamed=%d\n", branches, len(missed), len(unnamed))
	if len(unnamed) > 0 {
		return fmt.Errorf("test them, or name them in %s with the reason", known)
	}
	return nil
}

// arm names the if or switch that it was added to: its first line.
func arm(source []byte, at token.Position) string {
	line, _, _ := strings.Cut(string(source[at.Offset:]), "\n")
	return "_ = " + strconv.Quote(line)
}

var addedArm = regexp.MustCompile(`^\W*(?:default: )?_ = ("(?:[^"\\]|\\.)*")`)

// withAllArms is a file in which every if has an else and every switch a default.
func withAllArms(name string) ([]byte, error) {
	source, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, source, 0)
	if err != nil {
		return nil, err
	}
	arms := make(map[int]string) // offset → what is put there
	ast.Inspect(file, func(n ast.Node) bool {
		if n, ok := n.(*ast.IfStmt); ok && n.Else == nil {
			arms[files.Position(n.End()).Offset] = " else { " + arm(source, files.Position(n.Pos())) + " }"
		}
		var body *ast.BlockStmt
		switch n := n.(type) {
		case *ast.SwitchStmt:
			body = n.Body
		case *ast.TypeSwitchStmt:
			body = n.Body
		default:
			return true
		}
		if !slices.ContainsFunc(body.List, func(s ast.Stmt) bool { return s.(*ast.CaseClause).List == nil }) {
			arms[files.Position(body.Rbrace).Offset] = "default: " + arm(source, files.Position(n.Pos())) + "; "
		}
		return true
	})
	var out bytes.Buffer
	for i, b := range source {
		out.WriteString(arms[i])
		out.WriteByte(b)
	}
	return out.Bytes(), nil
}

// untaken lists the blocks of a profile that have no count: the file, and the line in which they
// begin; of an arm that was added, the line in which its if or switch begins.
func untaken(profile string, lines map[string][]string) (branches int, missed []string, err error) {
	counts, err := os.ReadFile(profile)
	if err != nil {
		return 0, nil, err
	}
	taken := make(map[string]int)
	for line := range strings.Lines(string(counts)) {
		var statements, n int
		block, rest, _ := strings.Cut(line, " ")
		if _, err := fmt.Sscan(rest, &statements, &n); err == nil {
			taken[block] += n
		}
	}
	for block, n := range taken {
		name, at, _ := strings.Cut(strings.TrimPrefix(block, module), ":")
		var line, column int
		if _, err := fmt.Sscanf(at, "%d.%d", &line, &column); err != nil || lines[name] == nil {
			continue
		}
		branches++
		if n > 0 {
			continue
		}
		text := lines[name][line-1]
		what := strings.TrimSpace(text)
		if added := addedArm.FindStringSubmatch(text[column-1:]); added != nil {
			header, _ := strconv.Unquote(added[1])
			what = "no other case of: " + header
		}
		missed = append(missed, name+": "+what)
	}
	slices.SortFunc(missed, cmp.Compare[string])
	return branches, missed, nil
}
