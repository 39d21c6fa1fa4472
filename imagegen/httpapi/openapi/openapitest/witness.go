// Package openapitest checks, in tests of the service, that each answer and each accepted request conforms to the
// document of package openapi, and that everything in the document occurs in the tests.
package openapitest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/imagegend/imagegend/imagegen/httpapi/openapi"
)

// Witness checks requests and answers against a document, and remembers which parts of the document have occurred. It
// is safe for concurrent use.
type Witness struct {
	doc *openapi3.T

	mu       sync.Mutex
	statuses map[*openapi3.Operation]map[string]bool
	fields   map[*openapi3.SchemaRef]bool
	given    map[*openapi3.Parameter]bool
	compared map[string]bool // exchanges that need no second look
}

// New returns a witness for openapi.Document. It panics if the document is not valid OpenAPI.
func New() *Witness {
	w, err := Of(openapi.Document())
	if err != nil {
		panic(err)
	}
	return w
}

// Of returns a witness for any document. It is an error if the document is not valid OpenAPI.
func Of(document []byte) (*Witness, error) {
	loader := openapi3.NewLoader()
	doc, err := loader.LoadFromData(document)
	if err != nil {
		return nil, err
	}
	if err := doc.Validate(context.Background(), openapi3.EnableExamplesValidation(),
		openapi3.EnableSchemaDefaultsValidation()); err != nil {
		return nil, err
	}
	w := &Witness{doc: doc, statuses: map[*openapi3.Operation]map[string]bool{}, fields: map[*openapi3.SchemaRef]bool{},
		given: map[*openapi3.Parameter]bool{}, compared: map[string]bool{}}
	w.eachSchema("", w.close)
	return w, nil
}

// close makes an object one that has no other properties than those that the document names: to clients
// another is not an error, here it is one that the document lacks.
func (w *Witness) close(_ string, s *openapi3.Schema) {
	if a := &s.AdditionalProperties; len(s.Properties) > 0 && a.Has == nil && a.Schema == nil {
		a.Has = new(bool)
	}
}

// see notes that an operation was answered with a status.
func (w *Witness) see(o *openapi3.Operation, status int) {
	if w.statuses[o] == nil {
		w.statuses[o] = map[string]bool{}
	}
	w.statuses[o][strconv.Itoa(status)] = true
}

// mark notes which properties a value has.
func (w *Witness) mark(s *openapi3.SchemaRef, v any) {
	if s == nil || s.Value == nil {
		return
	}
	for _, part := range slices.Concat(s.Value.AllOf, s.Value.OneOf, s.Value.AnyOf) {
		w.mark(part, v)
	}
	switch v := v.(type) {
	case map[string]any:
		for name, of := range v {
			if p := s.Value.Properties[name]; p != nil {
				w.fields[p] = true
				w.mark(p, of)
			}
		}
	case []any:
		for _, of := range v {
			w.mark(s.Value.Items, of)
		}
	}
}

// Missing lists the parts of the document that have not occurred, of paths that begin with one of the prefixes:
// statuses of operations, parameters, and properties in bodies.
func (w *Witness) Missing(prefixes ...string) (missing []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for path, item := range w.doc.Paths.Map() {
		if !slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(path, p) }) {
			continue
		}
		for method, o := range item.Operations() {
			for status := range o.Responses.Map() {
				if !w.statuses[o][status] {
					missing = append(missing, fmt.Sprintf("no answer of %s %s has the status %s", method, path, status))
				}
			}
			for _, p := range o.Parameters {
				if !w.given[p.Value] {
					missing = append(missing, fmt.Sprintf("no accepted request of %s %s has the parameter %s", method,
						path, p.Value.Name))
				}
			}
		}
		w.eachSchema(path, func(at string, s *openapi3.Schema) {
			for name, p := range s.Properties {
				if !w.fields[p] {
					missing = append(missing, fmt.Sprintf("nothing sent to or from %s has %s.%s", path, at, name))
				}
			}
		})
	}
	slices.Sort(missing)
	return slices.Compact(missing)
}

// eachSchema calls f for every schema in the bodies of one path, or of all.
func (w *Witness) eachSchema(only string, f func(at string, s *openapi3.Schema)) {
	seen := map[*openapi3.Schema]bool{}
	for path, item := range w.doc.Paths.Map() {
		if only != "" && path != only {
			continue
		}
		for _, o := range item.Operations() {
			var contents []openapi3.Content
			if o.RequestBody != nil {
				contents = append(contents, o.RequestBody.Value.Content)
			}
			for _, r := range o.Responses.Map() {
				contents = append(contents, r.Value.Content)
			}
			for _, c := range contents {
				for _, m := range c {
					walk(m.Schema, "", seen, f)
				}
			}
		}
	}
}

func walk(s *openapi3.SchemaRef, at string, seen map[*openapi3.Schema]bool, f func(at string, s *openapi3.Schema)) {
	if s == nil || s.Value == nil || seen[s.Value] {
		return
	}
	if s.Ref != "" {
		at = s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
	}
	seen[s.Value] = true
	f(at, s.Value)
	for _, part := range slices.Concat(s.Value.AllOf, s.Value.OneOf, s.Value.AnyOf) {
		walk(part, at, seen, f)
	}
	for name, p := range s.Value.Properties {
		walk(p, at+"."+name, seen, f)
	}
	walk(s.Value.Items, at, seen, f)
	walk(s.Value.AdditionalProperties.Schema, at, seen, f)
}
