package serving

import (
	"context"
	"fmt"
	"io"
	"mime"
	"unicode/utf8"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/internal/formdata"
)

// Form collects the parts of a form. Files go straight to where they are staged. Read is called once,
// with all the fields set; the functions are called in the order of the parts.
type Form struct {
	Files []File // those that have come

	Stage   func(ctx context.Context, r io.Reader, name string) (imagegen.Reference, error)
	Hold    *Holding
	IsFile  func(name string) bool         // whether a part of this name is a file
	Room    func(name, which string) error // why another file of this name is one too many; which names it in messages
	Known   func(name string) error        // why no part can have this name
	SetText func(name, text string) error  // takes the content of a part that is not a file

	text int64 // bytes of all texts so far
}

// File is a file of a form.
type File struct {
	Name string // of its part
	imagegen.Reference
}

// boundaryOf returns the boundary of a form with this Content-Type.
func boundaryOf(contentType string) (string, error) {
	_, parameters, err := mime.ParseMediaType(contentType)
	switch {
	case err != nil:
		return "", imagegen.Invalid("the parameters of the Content-Type multipart/form-data cannot be read; a boundary with " +
			"characters such as = must be quoted: boundary=\"a=b\"")
	case parameters["boundary"] == "":
		return "", imagegen.Invalid("the Content-Type multipart/form-data has no boundary")
	}
	return parameters["boundary"], nil
}

// Read reads the form that is the body of x. On an error it discards the files that had come.
func (f *Form) Read(x *Exchange) error {
	boundary, err := boundaryOf(x.Request.Header.Get("Content-Type"))
	if err != nil {
		return err
	}
	body, err := x.Body(formdata.MaxBytes)
	if err != nil {
		return err
	}
	if err := formdata.Read(body, boundary, func(p formdata.Part) error { return f.addPart(x.Ctx, p) }); err != nil {
		for _, file := range f.Files {
			imagegen.Discard(file.Reference)
		}
		return BodyError(err)
	}
	return nil
}

// addPart reads one part, as a file or as text.
func (f *Form) addPart(ctx context.Context, part formdata.Part) error {
	switch {
	case f.IsFile(part.Name) && part.File:
		return f.addFile(ctx, part)
	case f.IsFile(part.Name):
		return imagegen.InvalidField(part.Name, "%s must be a file: its part needs a filename", part.Name)
	case part.File:
		return f.noText(part)
	}
	return f.addText(part.Name, part)
}

// noText refuses a file where a text belongs, unless none was chosen: then it counts as absent.
func (f *Form) noText(part formdata.Part) error {
	if err := f.Known(part.Name); err != nil {
		return err
	}
	if chosen, err := part.Chosen(); err != nil || !chosen {
		return err
	}
	return imagegen.InvalidField(part.Name, "%s must be text, but was sent as a file", part.Name)
}

// addText reads a text part. All texts of a form share one limit.
func (f *Form) addText(name string, part io.Reader) error {
	b, err := f.Hold.ReadAll(io.LimitReader(part, formdata.MaxText-f.text+1))
	if err != nil {
		return err
	}
	if f.text += int64(len(b)); f.text > formdata.MaxText {
		return imagegen.Invalid("the text parts of the form are larger than %d bytes", formdata.MaxText)
	}
	if !utf8.Valid(b) {
		return imagegen.InvalidField(name, "%s is not valid UTF-8", name)
	}
	return f.SetText(name, string(b))
}

// addFile stages one file, unless none was chosen.
func (f *Form) addFile(ctx context.Context, part formdata.Part) error {
	if chosen, err := part.Chosen(); err != nil || !chosen {
		return err
	}
	which := fmt.Sprintf("%s %d (%s)", part.Name, len(f.Files)+1, Shown(part.FileName))
	if err := f.Room(part.Name, which); err != nil {
		return err
	}
	u, err := f.Stage(ctx, part, which)
	if err != nil {
		return err
	}
	f.Files = append(f.Files, File{part.Name, u})
	return nil
}
