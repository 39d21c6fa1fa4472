package console

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"text/template"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/internal/wire"
)

//go:embed samples
var sampleTexts embed.FS

// sampleCode is one template for each language. Each quotes what was entered in its own way.
var sampleCode = template.Must(template.New("").Funcs(template.FuncMap{
	"shell": shellQuote, "curl": curlQuote, "json": literal,
}).ParseFS(sampleTexts, "samples/*.txt"))

// sample is a request written in a language.
type sample struct {
	ID       string
	Language string
	Code     string
}

// sampleRequest is what the templates of samples are given.
type sampleRequest struct {
	imagegen.GenerateRequest
	Base  string
	Files []string // of the references
	Mask  string   // its file; "": none
}

// samples write a request to the service at base as a program would send it. Where an API key belongs
// stands the name of a variable. The answer to a program is awaited, not polled for. openai: that shape of the
// API is served too.
func samples(base string, q imagegen.GenerateRequest, files []string, mask string, openai bool) []sample {
	q.Async = false
	r := sampleRequest{q, base, files, mask}
	all := []sample{
		{"curl", "curl", r.in("curl.txt")},
		{"python", "Python", r.in("python.txt")},
		{"javascript", "JavaScript", r.in("javascript.txt")},
		{"go", "Go", r.in("go.txt")},
	}
	if openai {
		all = append(all, sample{"openai-python", "OpenAI SDK for Python", r.in("openai-python.txt")},
			sample{"openai-node", "OpenAI SDK for Node", r.in("openai-node.txt")})
	}
	return all
}

func (r sampleRequest) in(language string) string {
	var b strings.Builder
	if err := sampleCode.ExecuteTemplate(&b, language, r); err != nil {
		panic(fmt.Errorf("console: the sample %s: %w", language, err))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Endpoint is where the request goes.
func (r sampleRequest) Endpoint() string { return r.Base + "/api/v1/images/generations" }

// OpenAI is the base address of OpenAI's shape of the API.
func (r sampleRequest) OpenAI() string { return r.Base + "/v1" }

// HasFiles reports whether the request is a form, and no JSON.
func (r sampleRequest) HasFiles() bool { return len(r.Files) > 0 || r.Mask != "" }

// sampleField is a field of a form with files.
type sampleField struct{ Name, Value string }

// Fields are the request's fields as text, in the order of the documentation.
func (r sampleRequest) Fields() []sampleField {
	all := []sampleField{{"model", r.Model}, {"prompt", r.Prompt}, {"n", strconv.Itoa(r.N)},
		{"size", r.Size.String()}, {"quality", string(r.Quality)}}
	o := r.Options
	if o.Format != "" {
		all = append(all, sampleField{"output_format", string(o.Format)})
	}
	if o.Background != "" {
		all = append(all, sampleField{"background", string(o.Background)})
	}
	if o.Seed != nil {
		all = append(all, sampleField{"seed", strconv.FormatInt(*o.Seed, 10)})
	}
	return all
}

// Arguments are the request's fields with values that JavaScript and Python read, as OpenAI's clients take them.
func (r sampleRequest) Arguments() []sampleField {
	all := []sampleField{{"model", literal(r.Model)}, {"prompt", literal(r.Prompt)}, {"n", strconv.Itoa(r.N)},
		{"size", literal(r.Size.String())}, {"quality", literal(r.Quality)}}
	if f := r.Options.Format; f != "" {
		all = append(all, sampleField{"output_format", literal(f)})
	}
	if b := r.Options.Background; b != "" {
		all = append(all, sampleField{"background", literal(b)})
	}
	return append(all, sampleField{"response_format", `"url"`})
}

// GoOptions are the fields of imagegen.Options that the request sets.
func (r sampleRequest) GoOptions() string {
	var set []string
	if f := r.Options.Format; f != "" {
		set = append(set, fmt.Sprintf("Format: %q", f))
	}
	if b := r.Options.Background; b != "" {
		set = append(set, fmt.Sprintf("Background: %q", b))
	}
	if s := r.Options.Seed; s != nil {
		set = append(set, fmt.Sprintf("Seed: new(int64(%d))", *s))
	}
	return strings.Join(set, ", ")
}

// Body is the request in JSON, whose further lines begin with prefix.
func (r sampleRequest) Body(prefix, indent string) string {
	return encoded(wire.NewRequest(r.GenerateRequest), prefix, indent)
}

// shellQuote makes one word of a string, whatever stands in it.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// curlQuote makes a file's name of a string, in an option of curl where commas and semicolons count.
func curlQuote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// literal is a value in JSON, which JavaScript and Python read too.
func literal(v any) string { return encoded(v, "", "") }

func encoded(v any, prefix, indent string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent(prefix, indent)
	e.Encode(v) // strings and numbers, into memory
	return strings.TrimSpace(b.String())
}
