package httpapi

import (
	"mime"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi/internal/serving"
	"github.com/imagegend/imagegend/internal/jsonscan"
)

// maxJSON bounds a JSON body: the longest prompt, in which each character is escaped, fits.
const maxJSON = 1 << 20

// readRequest reads the fields of a request for images, in either encoding. What it returns may
// hold uploads, which Generate takes over. On an error there are none left.
func (a *api) readRequest(x *exchange) (imagegen.GenerateRequest, error) {
	contentType := x.Request.Header.Get("Content-Type")
	switch mediaType, _, _ := mime.ParseMediaType(contentType); mediaType {
	case "application/json":
		return a.readJSON(x, (*form).setJSON)
	case "multipart/form-data":
		return a.readMultipart(x)
	}
	return imagegen.GenerateRequest{},
		imagegen.Invalid("the Content-Type must be application/json or multipart/form-data; got %s",
			serving.Shown(contentType))
}

// readJSON reads an object, of which set takes each member. The body is read to its end before set
// sees anything of it.
func (a *api) readJSON(x *exchange, set func(*form, string, jsonscan.Value) error) (imagegen.GenerateRequest, error) {
	body, err := x.Body(maxJSON)
	if err != nil {
		return imagegen.GenerateRequest{}, err
	}
	held := a.site.Limits.Hold(x.Payer) // until the fields have been copied out of it
	defer held.Release()
	b, err := held.ReadAll(body)
	if err != nil {
		return imagegen.GenerateRequest{}, serving.BodyError(err)
	}
	f := newForm()
	err = jsonscan.Object(b, func(name string, v jsonscan.Value) error { return set(&f, name, v) })
	return f.request, err
}

// referenceName is the part that the specification names.
const referenceName = "reference_image"

// maskName is the part that holds a mask.
const maskName = "mask"

// isReference reports whether a part of this name is a reference image: the specification's name,
// and what other services and PHP call it.
func isReference(name string) bool {
	return slices.Contains([]string{referenceName, referenceName + "[]", "image", "image[]"}, name)
}

// isFile reports whether a part of this name is a file.
func isFile(name string) bool { return isReference(name) || name == maskName }

// readMultipart reads a form part by part. Files go to the spool as they arrive; on an
// error they are discarded.
func (a *api) readMultipart(x *exchange) (q imagegen.GenerateRequest, err error) {
	fields := newForm()
	held := a.site.Limits.Hold(x.Payer)
	defer held.Release()
	form := &serving.Form{Stage: x.session.StageReference, Hold: held, IsFile: isFile, SetText: fields.setText,
		Known: func(name string) error { _, err := known(name); return err },
	}
	form.Room = func(name, which string) error { return roomFor(form.Files, name, which) }
	if err := form.Read(&x.Exchange); err != nil {
		return q, err
	}
	for _, f := range form.Files {
		if f.Name == maskName {
			fields.request.Mask = f.Reference
		} else {
			fields.request.References = append(fields.request.References, f.Reference)
		}
	}
	return fields.request, nil
}

// roomFor refuses one file too many: a second mask, or a reference beyond the most that any model
// takes. files are those that have come; which names the new one in the message.
func roomFor(files []serving.File, name, which string) error {
	isMask := func(f serving.File) bool { return f.Name == maskName }
	masked := slices.ContainsFunc(files, isMask)
	switch {
	case name == maskName && masked:
		return imagegen.InvalidField(maskName, "mask was sent twice")
	case name == maskName:
		return nil
	case masked && len(files)-1 >= imagegen.MaxReferences, !masked && len(files) >= imagegen.MaxReferences:
		return imagegen.Invalid("%s is one too many: send at most %d reference images", which, imagegen.MaxReferences)
	}
	return nil
}
