package console

import (
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"unicode/utf8"

	"github.com/imagegend/imagegend/imagegen/internal/formdata"
)

// keepTyped answers the playground's form, sent without a script after the sign-in has ended, with a page that holds
// what was typed. Nothing is stored on the server, which does not know whose it is. Files are left out, and the form
// has only formTime to arrive.
func (p *page) keepTyped() error {
	// Twice as much as all texts together may have: names and boundaries come on top. Files behind the texts are cut
	// off.
	p.r.Body = http.MaxBytesReader(p.w, p.r.Body, 2*formdata.MaxText)
	fields := p.textFields()
	if len(fields) == 0 {
		return p.askSignIn()
	}
	return p.renderStatus(http.StatusForbidden, "kept", fields)
}

// textFields reads the text fields of a form, as far as they arrive. An error is ignored: the prompt comes before the
// files, which may be too large. Names of buttons are left out.
func (p *page) textFields() (all []hiddenField) {
	add := func(name, value string) {
		if name != "show" && name != "use" && utf8.ValidString(value) {
			all = append(all, hiddenField{name, value})
		}
	}
	mediaType, parameters, _ := mime.ParseMediaType(p.r.Header.Get("Content-Type"))
	if mediaType != "multipart/form-data" {
		if f, err := p.form(); err == nil {
			for _, name := range slices.Sorted(maps.Keys(f.values)) {
				for _, value := range f.values[name] {
					add(name, value)
				}
			}
		}
		return all
	}
	_ = formdata.Read(p.r.Body, parameters["boundary"], func(part formdata.Part) error { // what did not come is not kept
		if part.File {
			return nil
		}
		b, err := io.ReadAll(part)
		if err == nil {
			add(part.Name, string(b))
		}
		return err
	})
	return all
}
