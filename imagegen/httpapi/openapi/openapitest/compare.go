package openapitest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// compare compares an exchange to the document. b is the answer's body where that is JSON.
func (w *Witness) compare(r *http.Request, response *http.Response, b []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	sent := sentBody(r)
	what := fmt.Sprint(r.Method, r.URL, r.Header, response.StatusCode, response.Header, string(sent), string(b))
	if w.compared[what] {
		return nil
	}
	w.compared[what] = true
	path, item := w.find(r.URL.Path)
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	operation := item.GetOperation(method)
	switch {
	case operation == nil && w.concerns(r.URL.Path):
		return w.compareStray(r, item, response, b)
	case operation == nil:
		return nil
	}
	if r.Method != http.MethodHead {
		w.see(operation, response.StatusCode)
	}
	in := &openapi3filter.RequestValidationInput{Request: r, Route: &routers.Route{Spec: w.doc, Path: path,
		PathItem: item, Method: method, Operation: operation}}
	err := openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: response.StatusCode, Header: response.Header,
		Body: io.NopCloser(bytes.NewReader(b)), Options: &openapi3filter.Options{IncludeResponseStatus: true},
	})
	if err != nil {
		return err
	}
	w.markJSON(operation, response, b)
	if response.StatusCode >= http.StatusBadRequest {
		return nil
	}
	return w.compareRequest(operation, r, sent)
}

// find returns the path of the document that a path fits; an empty item if none does.
func (w *Witness) find(path string) (string, *openapi3.PathItem) {
	parts := strings.Split(path, "/")
	for pattern, item := range w.doc.Paths.Map() {
		if fits(strings.Split(pattern, "/"), parts) {
			return pattern, item
		}
	}
	return "", &openapi3.PathItem{}
}

// concerns reports whether a path lies where the document has others, and not beside the interface.
func (w *Witness) concerns(path string) bool {
	first := func(path string) string { return strings.SplitN(path, "/", 3)[1] }
	for pattern := range w.doc.Paths.Map() {
		if strings.HasPrefix(path, "/") && first(path) == first(pattern) {
			return true
		}
	}
	return false
}

func fits(pattern, parts []string) bool {
	if len(pattern) != len(parts) {
		return false
	}
	for i, p := range pattern {
		if p != parts[i] && (parts[i] == "" || !strings.HasPrefix(p, "{")) {
			return false
		}
	}
	return true
}

// compareStray compares the answer to a request that stands in no operation of the document.
func (w *Witness) compareStray(r *http.Request, item *openapi3.PathItem, response *http.Response, b []byte) error {
	known := len(item.Operations()) > 0
	switch {
	case r.Method == http.MethodOptions && response.StatusCode == http.StatusNoContent:
		return nil
	case known && response.StatusCode != http.StatusMethodNotAllowed:
		return errors.New("the method is not in it")
	case !known && response.StatusCode != http.StatusNotFound && response.StatusCode != http.StatusMethodNotAllowed:
		return errors.New("the path is not in it")
	case r.Method == http.MethodHead:
		return nil
	}
	if strings.HasPrefix(r.URL.Path, "/v1/") {
		return w.compareJSON(w.doc.Components.Schemas["OpenAIError"], b)
	}
	return w.compareJSON(w.doc.Components.Schemas["Error"], b)
}

// compareJSON compares and marks one JSON value.
func (w *Witness) compareJSON(s *openapi3.SchemaRef, b []byte) error {
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	w.mark(s, v)
	return s.Value.VisitJSON(v, openapi3.EnableJSONSchema2020())
}

// markJSON marks what the body of an answer that fits has.
func (w *Witness) markJSON(o *openapi3.Operation, response *http.Response, b []byte) {
	m := o.Responses.Status(response.StatusCode).Value.Content.Get(response.Header.Get("Content-Type"))
	var v any
	if m != nil && json.Unmarshal(b, &v) == nil {
		w.mark(m.Schema, v)
	}
}

// compareRequest compares a request that was accepted.
func (w *Witness) compareRequest(o *openapi3.Operation, r *http.Request, sent []byte) error {
	w.markParameters(o, r)
	if o.RequestBody == nil || sent == nil {
		return nil
	}
	contentType := r.Header.Get("Content-Type")
	m := o.RequestBody.Value.Content.Get(contentType)
	if m == nil {
		return fmt.Errorf("the request is %s, which is not in it", contentType)
	}
	if _, parameters, err := mime.ParseMediaType(contentType); err == nil && parameters["boundary"] != "" {
		return w.compareForm(m.Schema, multipart.NewReader(bytes.NewReader(sent), parameters["boundary"]))
	}
	return w.compareJSON(m.Schema, withoutNulls(sent))
}

// withoutNulls leaves out fields that are null, which is the same as absent.
func withoutNulls(b []byte) []byte {
	var fields map[string]any
	if json.Unmarshal(b, &fields) != nil {
		return b
	}
	maps.DeleteFunc(fields, func(_ string, v any) bool { return v == nil })
	b, _ = json.Marshal(fields)
	return b
}

func (w *Witness) markParameters(o *openapi3.Operation, r *http.Request) {
	for _, p := range o.Parameters {
		switch p := p.Value; p.In {
		case "path":
			w.given[p] = true
		case "query":
			w.given[p] = w.given[p] || r.URL.Query().Has(p.Name)
		case "header":
			w.given[p] = w.given[p] || r.Header.Get(p.Name) != ""
		}
	}
}

// compareForm compares the names of a form's parts.
func (w *Witness) compareForm(s *openapi3.SchemaRef, form *multipart.Reader) error {
	known := map[string]*openapi3.SchemaRef{}
	for name, p := range s.Value.Properties {
		known[name] = p
		also, _ := p.Value.Extensions["x-also"].([]any)
		for _, name := range also {
			known[name.(string)] = p
		}
	}
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		p, ok := known[part.FormName()]
		if !ok {
			return fmt.Errorf("the form has %q, which is not in it", part.FormName())
		}
		w.fields[p] = true
	}
}

// largestBody is up to which requests are compared; larger ones are files and prompts.
const largestBody = 1 << 20

// sentBody returns the body of a request; nil if there is none, or it cannot be had again.
func sentBody(r *http.Request) []byte {
	if r.GetBody == nil || r.ContentLength > largestBody {
		return nil
	}
	body, err := r.GetBody()
	if err != nil {
		return nil
	}
	b, _ := io.ReadAll(body)
	return b
}
