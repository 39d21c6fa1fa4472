package httpapi

import (
	"context"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/internal/formdata"
)

// referenceName is the part that the specification names.
const referenceName = "reference_image"

// isReference reports whether a part of this name is a file: the specification's name, and what
// other services and PHP call it.
func isReference(name string) bool {
	return slices.Contains([]string{referenceName, referenceName + "[]", "image", "image[]"}, name)
}

// upload collects the parts of a form. Files go straight to the engine's spool.
type upload struct {
	form
	session *engine.Session
	files   []*engine.Upload
	text    int64 // bytes of text that may still come
	held    *holding
}

func (a *api) readMultipart(x *exchange, boundary string) (q imagegen.GenerateRequest, err error) {
	body, err := x.body(formdata.MaxBytes)
	if err != nil {
		return q, err
	}
	u := &upload{form: newForm(), session: x.session, text: formdata.MaxText, held: a.intake.hold(x.session.KeyID())}
	defer u.held.release()
	take := func(part formdata.Part) error { return u.add(x.ctx, part) }
	if err := formdata.Read(body, boundary, take); err != nil {
		u.discard()
		return q, bodyError(err)
	}
	for _, f := range u.files {
		u.request.References = append(u.request.References, f)
	}
	return u.request, nil
}

func (u *upload) discard() {
	for _, f := range u.files {
		f.Discard()
	}
}

func (u *upload) add(ctx context.Context, part formdata.Part) error {
	switch {
	case isReference(part.Name) && part.File:
		return u.addFile(ctx, part)
	case isReference(part.Name):
		return imagegen.Invalid("%s must be a file: its part needs a filename", part.Name)
	case part.File:
		return noText(part)
	}
	return u.addText(part.Name, part)
}

// noText refuses a file where a text belongs, unless none was chosen.
func noText(part formdata.Part) error {
	if _, err := known(part.Name, referenceName); err != nil {
		return err
	}
	if chosen, err := part.Chosen(); err != nil || !chosen {
		return err
	}
	return imagegen.Invalid("%s must be text, but was sent as a file", part.Name)
}

func (u *upload) addText(name string, part io.Reader) error {
	b, err := u.held.readAll(io.LimitReader(part, u.text+1))
	if err != nil {
		return err
	}
	if u.text -= int64(len(b)); u.text < 0 {
		return imagegen.Invalid("the text parts of the form are larger than %d bytes", formdata.MaxText)
	}
	if !utf8.Valid(b) {
		return imagegen.Invalid("%s is not valid UTF-8", name)
	}
	return u.setText(name, string(b))
}

// addFile spools one reference image, unless none was chosen.
func (u *upload) addFile(ctx context.Context, part formdata.Part) error {
	if chosen, err := part.Chosen(); err != nil || !chosen {
		return err
	}
	which := fmt.Sprintf("%s %d (%s)", part.Name, len(u.files)+1, shown(part.FileName))
	if len(u.files) == imagegen.MaxReferences {
		return imagegen.Invalid("%s is one too many: send at most %d reference images", which, imagegen.MaxReferences)
	}
	f, err := u.session.Stage(ctx, part, which)
	if err != nil {
		return err
	}
	u.files = append(u.files, f)
	return nil
}
