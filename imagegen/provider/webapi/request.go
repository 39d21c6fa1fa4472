package webapi

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// request returns where to send a request for r, and its body. With an Upload, the references of r must be links.
func (p *Provider) request(r imagegen.ProviderRequest) (path string, body *upstream.Body, err error) {
	path, filler, form := p.config.Path, p.plain, p.config.Form == FormAlways
	if len(r.References) > 0 {
		path, filler, form = p.config.EditPath, p.edit, p.config.Form != FormNever
	}
	var d upstream.Document
	var files files
	encode := d.DataURL
	switch {
	case p.config.Upload.Path != "":
		encode = address
	case form:
		encode = files.mark
	case p.config.Encoding == Base64:
		encode = d.Base64
	}
	size, err := p.capabilities.Choose(r)
	if err != nil {
		return "", nil, err
	}
	if input := filler.Fill(r, size, encode); form {
		body, err = files.form(input)
	} else {
		body, err = d.Body(input)
	}
	return path, body, err
}

// files are the references and the mask of a form, by the mark that stands for each in the input. Marks are random,
// so that no prompt can contain one.
type files map[string]imagegen.ProviderReference

// mark adds a file and returns its mark.
func (f *files) mark(r imagegen.ProviderReference) string {
	if *f == nil {
		*f = files{}
	}
	mark := rand.Text()
	(*f)[mark] = r
	return mark
}

// form makes a field of each name of an input, or of each element if its value is a list. The names are sorted.
func (f files) form(input map[string]any) (*upstream.Body, error) {
	form := upstream.NewForm()
	for _, name := range slices.Sorted(maps.Keys(input)) {
		for _, value := range elements(input[name]) {
			if err := f.addFile(form, name, value); err != nil {
				return nil, err
			}
		}
	}
	return form.Body(), nil
}

func elements(v any) []any {
	switch v := v.(type) {
	case []any:
		return v
	case []string:
		all := make([]any, len(v))
		for i, s := range v {
			all[i] = s
		}
		return all
	}
	return []any{v}
}

// addFile adds a field. A mark becomes a file, any other text is written as it is, and any other value as JSON: so
// numbers and truth values look as they usually do in forms.
func (f files) addFile(form *upstream.Form, name string, value any) error {
	text, ok := value.(string)
	if file, isFile := f[text]; ok && isFile {
		form.File(name, file)
		return nil
	}
	if !ok {
		raw, err := json.Marshal(value)
		if err != nil {
			return &imagegen.ProviderError{Class: imagegen.ClassInvalid,
				Message: fmt.Sprintf("field %s could not be encoded", name), Err: err}
		}
		text = string(raw)
	}
	form.Field(name, text)
	return nil
}
