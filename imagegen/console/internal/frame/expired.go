package frame

import (
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"unicode/utf8"

	"github.com/imagegend/imagegend/imagegen/internal/formdata"
)

// renderExpired answers the playground's form, sent without a script after the sign-in has ended, with a page that
// holds what was typed. Nothing is stored on the server, which does not know whose it is. Files are left out, and the
// form has only formTime to arrive.
func (p *Page) renderExpired() error {
	// Twice as much as all texts together may have: names and boundaries come on top. Files behind the texts are cut
	// off.
	p.Request.Body = http.MaxBytesReader(p.Writer, p.Request.Body, 2*formdata.MaxText)
	fields := p.textFields()
	if len(fields) == 0 {
		return p.redirectToSignIn()
	}
	return p.RenderStatus(http.StatusForbidden, "expired", fields)
}

// HiddenField is a field of a form that a page carries along.
type HiddenField struct{ Name, Value string }

// HiddenFields returns the fields of a form, sorted by name.
func HiddenFields(values url.Values) (all []HiddenField) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		for _, value := range values[name] {
			all = append(all, HiddenField{name, value})
		}
	}
	return all
}

// textFields reads the text fields of a form, as far as they arrive. An error is ignored: the prompt comes before the
// files, which may be too large. Names of buttons are left out.
func (p *Page) textFields() (all []HiddenField) {
	mediaType, parameters, _ := mime.ParseMediaType(p.Request.Header.Get("Content-Type"))
	if mediaType != "multipart/form-data" {
		if f, err := p.Form(); err == nil {
			all = HiddenFields(f.Values)
		}
	} else {
		_ = formdata.Read(p.Request.Body, parameters["boundary"], func(part formdata.Part) error {
			if part.File {
				return nil
			}
			b, err := io.ReadAll(part)
			if err == nil {
				all = append(all, HiddenField{part.Name, string(b)})
			}
			return err
		})
	}
	return slices.DeleteFunc(all, func(f HiddenField) bool {
		return f.Name == "show" || f.Name == "use" || !utf8.ValidString(f.Value)
	})
}
