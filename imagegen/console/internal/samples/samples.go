// Package samples writes a request as code in several languages.
package samples

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/internal/wire"
)

//go:embed *.txt
var sampleTexts embed.FS

// sampleCode has a template for each language. They are text templates, since the code is not HTML until a page
// escapes it; each must quote everything that was entered by the rules of its language.
var sampleCode = template.Must(template.New("").Funcs(template.FuncMap{
	"shell": shellQuote, "curl": curlQuote, "json": literal,
}).ParseFS(sampleTexts, "*.txt"))

// Sample is a request as code in one language.
type Sample struct {
	ID       string
	Language string
	Code     string
}

// request is the data of the templates.
type request struct {
	imagegen.GenerateRequest
	Base  string   // scheme and host of the service
	Files []string // the file names of the references
	Mask  string   // the file name of the mask; "": there is none
}

// Of returns a request as code in each language, ready to run. The API key is read from an environment variable.
// The code waits for the answer instead of polling, so the request is made synchronous. openai adds OpenAI's SDKs.
func Of(base string, q imagegen.GenerateRequest, files []string, mask string, openai bool) []Sample {
	q.Async = false
	r := request{q, base, files, mask}
	all := []Sample{
		{"curl", "curl", r.code("curl.txt")},
		{"python", "Python", r.code("python.txt")},
		{"javascript", "JavaScript", r.code("javascript.txt")},
		{"go", "Go", r.code("go.txt")},
	}
	if openai {
		all = append(all, Sample{"openai-python", "OpenAI SDK for Python", r.code("openai-python.txt")},
			Sample{"openai-node", "OpenAI SDK for Node", r.code("openai-node.txt")})
	}
	return all
}

// code executes a template. The templates are embedded, so an error is a bug.
func (r request) code(language string) string {
	var b strings.Builder
	if err := sampleCode.ExecuteTemplate(&b, language, r); err != nil {
		panic(fmt.Errorf("console: the sample %s: %w", language, err))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Endpoint is the address that the request is sent to.
func (r request) Endpoint() string { return r.Base + "/api/v1/images/generations" }

// OpenAI is the base address of the OpenAI-compatible API.
func (r request) OpenAI() string { return r.Base + "/v1" }

// HasFiles reports whether the request is sent as a form with files instead of JSON.
func (r request) HasFiles() bool { return len(r.Files) > 0 || r.Mask != "" }

// field is a field of a form with files.
type field struct{ Name, Value string }

// Fields are the request's form fields, in the order of the documentation.
func (r request) Fields() []field {
	all := []field{{"model", r.Model}, {"prompt", r.Prompt}, {"n", strconv.Itoa(r.N)},
		{"size", r.Size.String()}, {"quality", string(r.Quality)}}
	o := r.Options
	if o.Format != "" {
		all = append(all, field{"output_format", string(o.Format)})
	}
	if o.Background != "" {
		all = append(all, field{"background", string(o.Background)})
	}
	if o.Seed != nil {
		all = append(all, field{"seed", strconv.FormatInt(*o.Seed, 10)})
	}
	return all
}

// Arguments are the request's arguments for OpenAI's SDKs, with values that are literals both in JavaScript and in
// Python. The SDKs have no seed.
func (r request) Arguments() []field {
	all := slices.DeleteFunc(r.Fields(), func(f field) bool { return f.Name == "seed" })
	for i, f := range all {
		if f.Name != "n" {
			all[i].Value = literal(f.Value)
		}
	}
	return append(all, field{"response_format", `"url"`})
}

// GoOptions are the fields of imagegen.Options that the request sets, as Go code; "" if it sets none.
func (r request) GoOptions() string {
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

// Body is the request as JSON; all lines but the first begin with prefix.
func (r request) Body(prefix, indent string) string {
	return encoded(wire.NewRequest(r.GenerateRequest), prefix, indent)
}

// CurlBalance returns a command for a POSIX shell that asks for the balance with a key.
func CurlBalance(origin, key string) string {
	return "curl -H " + shellQuote("Authorization: Bearer "+key) + " " + shellQuote(origin+"/api/v1/credits")
}

// shellQuote turns any string into one word of a POSIX shell.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// curlQuote quotes a file name for an option of curl such as --form, in which commas and semicolons have a meaning.
func curlQuote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// literal is a string or a number as JSON, which is also a literal in JavaScript and in Python.
func literal(v any) string { return encoded(v, "", "") }

// encoded returns v as JSON without escapes for HTML: text templates, and later the page, quote it as needed.
func encoded(v any, prefix, indent string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent(prefix, indent)
	e.Encode(v) // strings and numbers, into memory
	return strings.TrimSpace(b.String())
}
