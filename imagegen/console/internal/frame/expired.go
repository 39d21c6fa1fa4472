package frame

import (
	"errors"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"unicode/utf8"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/internal/formdata"
)

// keptFields are the fields of the playground's form that the page holds.
var keptFields = []string{"again", "background", "height", "max_credits", "model", "n", "output_format", "prompt",
	"quality", "ratio", "reference", "seed", "tier", "token", "width"}

// maxExpired bounds the form that is read for such a page. Files are behind the prompt and count: what follows one that
// is larger is lost.
const maxExpired = 2 << 20

// renderExpired answers the playground's form, sent without a script after the sign-in has ended, with a page that
// holds what was typed. Nothing is stored on the server, which does not know whose it is. Files are left out, and the
// form has only formTime to arrive.
func (p *Page) renderExpired() error {
	if p.Request.PostForm == nil {
		if err := p.readTyped(); err != nil {
			return err
		}
	}
	fields := slices.DeleteFunc(HiddenFields(p.Request.PostForm), func(f HiddenField) bool {
		return !slices.Contains(keptFields, f.Name) || !utf8.ValidString(f.Value)
	})
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

// readTyped reads what the page holds of a form, as far as that arrives. Its errors are ignored, since the prompt comes
// before the files, which may be too large; only ErrOverloaded is returned.
func (p *Page) readTyped() (err error) {
	mediaType, parameters, _ := mime.ParseMediaType(p.Request.Header.Get("Content-Type"))
	if mediaType == "multipart/form-data" {
		body := http.MaxBytesReader(p.Writer, p.Request.Body, maxExpired)
		err = p.ReadParts(body, parameters["boundary"], func(part formdata.Part) (err error) {
			if !part.File && slices.Contains(keptFields, part.Name) {
				_, err = p.Text(part)
			}
			return err
		})
	} else {
		_, err = p.Form()
	}
	if errors.Is(err, imagegen.ErrOverloaded) {
		return err
	}
	return nil
}
