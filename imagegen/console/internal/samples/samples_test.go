package samples_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/format"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/samples"
	"github.com/imagegend/imagegend/imagegen/httpapi"
	"github.com/imagegend/imagegend/imagegen/httpapi/openai"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

// hostilePrompts hold what could end a string, or a word, in one of the languages.
var hostilePrompts = []string{
	"a red fox",
	`it's "quoted" \ back\\slashed \' \" \n`,
	"two\nlines\tand\r a third\n",
	"$(touch owned) `touch owned` ${HOME} $HOME !! ; touch owned & | > owned",
	"'; touch owned; '",
	"'\\''\"$(touch owned)\"'",
	"</script><script>alert(1)</script><!-- --> ]]> {{.}} {{json .}}",
	"line\u2028separator\u2029paragraph \u0085 \ufeff 狐 🦊 \u202e",
	"@owned", "-o owned", "%s %d %%", "`+process.exit(1)+`", "\x01\x7f",
}

// requestOf is a request with a prompt, for a small image.
func requestOf(prompt string) imagegen.GenerateRequest {
	return imagegen.GenerateRequest{Model: imagegentest.Model, Prompt: prompt, N: 1, Size: imagegen.Size{Width: 64,
		Height: 48},
		Quality: imagegen.QualityLow, Async: true}
}

// in returns the sample of a language.
func in(language string, all []samples.Sample) string {
	for _, s := range all {
		if s.ID == language {
			return s.Code
		}
	}
	return ""
}

// words splits a command as a shell does that knows only quotes, backslashes and blanks; ok is false if
// it holds anything that a shell would take for more, but for the variable of the key.
func words(command string) (all []string, ok bool) {
	command = strings.ReplaceAll(command, `"Authorization: Bearer $IMAGEGEND_API_KEY"`, "KEY")
	var word strings.Builder
	started := false
	for command != "" {
		switch c := command[0]; {
		case c == '\'':
			inside, after, closed := strings.Cut(command[1:], "'")
			if !closed {
				return nil, false
			}
			word.WriteString(inside)
			command, started = after, true
			continue
		case strings.HasPrefix(command, "\\\n"), c == ' ':
			if c == '\\' {
				command = command[1:]
			}
			if started {
				all = append(all, word.String())
				word.Reset()
				started = false
			}
		case strings.HasPrefix(command, `\'`):
			word.WriteByte('\'')
			command = command[1:]
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '-', c == '=', c == '@', c == '_':
			word.WriteByte(c)
			started = true
		default:
			return nil, false
		}
		command = command[1:]
	}
	if started {
		all = append(all, word.String())
	}
	return all, true
}

// The sample is a single command whose arguments are exactly what was entered.
func TestCurlIsQuoted(t *testing.T) {
	is := is.New(t)
	for _, prompt := range hostilePrompts {
		plain, ok := words(in("curl", samples.Of("http://x", requestOf(prompt), nil, "", true)))
		is.True(ok)
		is.Equal(plain[:6], []string{"curl", "http://x/api/v1/images/generations", "-H", "KEY", "-H",
			"Content-Type: application/json"})
		is.Equal(plain[6], "-d")
		var body map[string]any
		is.NoErr(json.Unmarshal([]byte(plain[7]), &body))
		is.Equal(cmp.Diff(map[string]any{"model": "fake-1", "prompt": prompt, "n": 1.0, "size": "64x48",
			"quality": "low"}, body), "")
		is.Equal(len(plain), 8)

		form, ok := words(in("curl", samples.Of("http://x", requestOf(prompt), []string{"fox.png", prompt}, prompt,
			true)))
		is.True(ok)
		is.Equal(form[4:8], []string{"--form-string", "model=fake-1", "--form-string", "prompt=" + prompt})
		is.Equal(form[14:16], []string{"-F", `reference_image=@"fox.png"`})
		quoted := `=@"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(prompt) + `"`
		is.Equal(form[17:], []string{"reference_image" + quoted, "-F", "mask" + quoted})
	}
}

// served is an engine behind the HTTP interface, and a directory that holds two images.
type served struct {
	imagegentest.Running
	url, key, dir string
	files         []string
}

func serve(t *testing.T) served {
	t.Helper()
	is := is.New(t)
	s := served{Running: imagegentest.Start(t), dir: t.TempDir(), files: []string{"fox.png",
		`it's, a "hare"; $(touch owned) \.png`}}
	routes := http.NewServeMux()
	routes.Handle("/", httpapi.NewHandler(s.Engine, httpapi.Options{}))
	routes.Handle(openai.Prefix, openai.NewHandler(s.Engine.Authenticate, openai.Options{}))
	server := httptest.NewServer(routes)
	t.Cleanup(server.Close)
	s.url, s.key = server.URL, s.Key(t, imagegentest.Alice)
	for _, name := range s.files {
		is.NoErr(os.WriteFile(filepath.Join(s.dir, name), imagegentest.Transparent(20, 20), 0o600))
	}
	is.NoErr(os.WriteFile(filepath.Join(s.dir, "mask.png"), imagegentest.Transparent(20, 20), 0o600))
	return s
}

// maskOf is a mask for the first of some files; "": there is none.
func maskOf(files []string) string {
	if len(files) == 0 {
		return ""
	}
	return "mask.png"
}

// runs runs a sample with a program if the machine has it, which a first run shows. It checks that the service made
// what was requested and that nothing else happened.
func (s served) runs(t *testing.T, language string, prompts []string, has string, program ...string) {
	t.Helper()
	is := is.New(t)
	if out, err := s.command(t, program, has).CombinedOutput(); err != nil {
		t.Logf("%s cannot %q here, and its sample was only parsed: %v: %s", program[0], has, err, out)
		return
	}
	for _, prompt := range prompts {
		for _, files := range [][]string{nil, s.files} {
			q := requestOf(prompt)
			q.Options = imagegen.Options{Format: imagegen.FormatWebP, Background: imagegen.BackgroundTransparent,
				Seed: new(int64(7))}
			out, err := s.command(t, program, in(language, samples.Of(s.url, q, files, maskOf(files), true))).
				CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			is.True(strings.Contains(string(out), "/images/image_"))
			p, err := s.As(imagegentest.Alice).Generations(t.Context(), imagegen.Query{Limit: 1})
			is.NoErr(err)
			g := p.Generations[0]
			got := imagegen.GenerateRequest{Model: g.Model, Prompt: g.Prompt, N: g.N, Size: g.Size, Quality: g.Quality,
				Options: g.Options, Async: true}
			// a form of JavaScript ends each line with two characters
			if strings.HasSuffix(language, "javascript") || strings.HasSuffix(language, "node") {
				q.Prompt, got.Prompt = lines.ReplaceAllString(prompt, "\n"), lines.ReplaceAllString(g.Prompt, "\n")
			}
			is.Equal(cmp.Diff(q, got), "")
			is.Equal(g.ReferenceCount, len(files))
			is.Equal(g.Masked, len(files) > 0)
		}
	}
	entries, err := os.ReadDir(s.dir)
	is.NoErr(err)
	is.Equal(len(entries), len(s.files)+1) // nothing was "owned"
}

// command is a program that runs some code where the images lie, and knows the key.
func (s served) command(t *testing.T, program []string, code string) *exec.Cmd {
	c := exec.CommandContext(t.Context(), program[0], append(slices.Clone(program[1:]), code)...)
	c.Dir, c.Env = s.dir, append(os.Environ(), "IMAGEGEND_API_KEY="+s.key)
	return c
}

var lines = regexp.MustCompile(`\r\n|\r|\n`)

// The sample for curl works in a shell.
func TestCurlRuns(t *testing.T) {
	serve(t).runs(t, "curl", hostilePrompts, "curl --version", "sh", "-c")
}

var jsonArgument = regexp.MustCompile(`(?s)JSON\.stringify\((.*?)\),\n}\);\n`)

// The code in JavaScript holds what was entered as JSON, which it reads as its own.
func TestJavaScript(t *testing.T) {
	is := is.New(t)
	for _, prompt := range hostilePrompts {
		plain := in("javascript", samples.Of("http://x", requestOf(prompt), nil, "", true))
		argument := jsonArgument.FindStringSubmatch(plain)
		is.True(argument != nil)
		var body map[string]any
		is.NoErr(json.Unmarshal([]byte(argument[1]), &body))
		is.Equal(cmp.Diff(map[string]any{"model": "fake-1", "prompt": prompt, "n": 1.0, "size": "64x48",
			"quality": "low"}, body), "")
		is.True(!strings.ContainsAny(plain, "\u2028\u2029"))

		form := in("javascript", samples.Of("http://x", requestOf(prompt), []string{prompt}, prompt, true))
		is.True(strings.Contains(form, `form.append("prompt", `+literal(prompt)+");\n"))
		is.True(strings.Contains(form, "for (const file of ["+literal(prompt)+"]) {\n"))
		is.True(strings.Contains(form, `form.append("mask", await openAsBlob(`+literal(prompt)+")"))
	}
	serve(t).runs(t, "javascript", hostilePrompts[1:3], `import { openAsBlob } from "node:fs"`, "node",
		"--input-type=module", "-e")
}

var pythonArgument = regexp.MustCompile(`(?s)    json=(\{.*?\n    \}),\n    timeout=`)

// The code in Python holds what was entered as JSON, whose texts and numbers it reads as its own.
func TestPython(t *testing.T) {
	is := is.New(t)
	for _, prompt := range hostilePrompts {
		plain := in("python", samples.Of("http://x", requestOf(prompt), nil, "", false))
		argument := pythonArgument.FindStringSubmatch(plain)
		is.True(argument != nil)
		var body map[string]any
		is.NoErr(json.Unmarshal([]byte(argument[1]), &body))
		is.Equal(cmp.Diff(map[string]any{"model": "fake-1", "prompt": prompt, "n": 1.0, "size": "64x48",
			"quality": "low"}, body), "")

		form := in("python", samples.Of("http://x", requestOf(prompt), []string{prompt}, prompt, false))
		is.True(strings.Contains(form, "\n        \"prompt\": "+literal(prompt)+",\n"))
		is.True(strings.Contains(form, `("reference_image", open(`+literal(prompt)+`, "rb")),`))
		is.True(strings.Contains(form, `("mask", open(`+literal(prompt)+`, "rb")),`))
	}
	serve(t).runs(t, "python", hostilePrompts[1:3], "import requests", "python3", "-c")
}

// literal is a text as JSON, in which no sample escapes what only HTML would need escaped.
func literal(s string) string {
	b, _ := json.Marshal(s)
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(b))
}

var argument = regexp.MustCompile(`(?m)^  +(\w+)(?:=|: )(".*"|\d+),$`)

// The samples for OpenAI's SDKs make the same request.
func TestOpenAI(t *testing.T) {
	is := is.New(t)
	is.Equal(in("openai-node", samples.Of("http://x", requestOf("a fox"), nil, "", false)), "") // it is not served
	for _, language := range []string{"openai-python", "openai-node"} {
		for _, prompt := range hostilePrompts {
			for _, files := range [][]string{nil, {"fox.png", prompt}} {
				q := requestOf(prompt)
				q.Options = imagegen.Options{Format: imagegen.FormatWebP, Background: imagegen.BackgroundTransparent,
					Seed: new(int64(0))}
				code := in(language, samples.Of("http://x", q, files, maskOf(files), true))
				arguments := map[string]any{}
				for _, m := range argument.FindAllStringSubmatch(code, -1) {
					var v any
					is.NoErr(json.Unmarshal([]byte(m[2]), &v))
					arguments[m[1]] = v
				}
				delete(arguments, "seed") // for Python it stands in a body of its own
				is.Equal(cmp.Diff(map[string]any{"model": "fake-1", "prompt": prompt, "n": 1.0, "size": "64x48",
					"quality": "low", "output_format": "webp", "background": "transparent", "response_format": "url"},
					arguments), "")
				is.True(strings.Contains(code, `"seed": 0`) || strings.Contains(code, "seed: 0"))
				is.Equal(strings.Contains(code, "images.edit("), files != nil)
				is.Equal(strings.Contains(code, literal(prompt)+`, "rb")`) || strings.Contains(code, `["fox.png",`+
					literal(prompt)+`]`), files != nil)
			}
		}
	}
	s := serve(t)
	s.runs(t, "openai-python", hostilePrompts[1:3], "import openai", "python3", "-c")
	s.runs(t, "openai-node", hostilePrompts[1:3], `import "openai"`, "node", "--input-type=module", "-e")
}

// The Go program compiles, is formatted, and holds what was entered.
func TestGoCompiles(t *testing.T) {
	is := is.New(t)
	fset := token.NewFileSet()
	compiled := importer.ForCompiler(fset, "gc", compiledFor(t, "github.com/imagegend/imagegend/imagegen/client"))
	for i, prompt := range hostilePrompts {
		for _, files := range [][]string{nil, {"fox.png", prompt}} {
			for _, size := range []imagegen.Size{{}, {Width: 1200, Height: 630}} {
				q := requestOf(prompt)
				q.Size = size
				if size.Auto() {
					q.Options = imagegen.Options{Format: imagegen.FormatWebP,
						Background: imagegen.BackgroundTransparent, Seed: new(int64(0))}
				}
				code := in("go", samples.Of("http://x", q, files, maskOf(files), true))
				formatted, err := format.Source([]byte(code))
				is.NoErr(err)
				is.Equal(cmp.Diff(string(bytes.TrimSpace(formatted)), code), "")
				f, err := parser.ParseFile(fset, fmt.Sprintf("sample%d.go", i), code, parser.SkipObjectResolution)
				is.NoErr(err)
				_, err = (&types.Config{Importer: compiled}).Check("main", fset, []*ast.File{f}, nil)
				is.NoErr(err)
				is.Equal(stringsOf(f)["Prompt"], prompt)
			}
		}
	}
}

// compiledFor finds what the compiler says that a package and all that it imports export.
func compiledFor(t *testing.T, path string) importer.Lookup {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}",
		path).Output()
	is.New(t).NoErr(err)
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[path] = file
	}
	return func(path string) (io.ReadCloser, error) { return os.Open(files[path]) }
}

// stringsOf are the fields of a program's composite literals that hold a string.
func stringsOf(f *ast.File) map[string]string {
	fields := map[string]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		pair, ok := n.(*ast.KeyValueExpr)
		if !ok {
			return true
		}
		if value, ok := pair.Value.(*ast.BasicLit); ok && value.Kind == token.STRING {
			fields[pair.Key.(*ast.Ident).Name], _ = strconv.Unquote(value.Value)
		}
		return true
	})
	return fields
}
