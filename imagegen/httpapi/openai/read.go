package openai

import (
	"errors"
	"fmt"
	"mime"
	"net/url"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi/internal/serving"
	"github.com/imagegend/imagegend/imagegen/internal/formdata"
	"github.com/imagegend/imagegend/internal/jsonscan"
)

const (
	// maxText bounds the part of a body that stays in memory: everything but the images.
	maxText = 1 << 20
	// maxJSON bounds a body with images: what a form may have, in base64.
	maxJSON = formdata.MaxBytes * 4 / 3
)

// checkQuery refuses a query, except the parameter api-version, which clients of Azure's variant send.
func checkQuery(raw string) error {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return imagegen.Invalid("the query is malformed: %v", err)
	}
	for name := range values {
		if name != "api-version" {
			return imagegen.InvalidField(serving.Shorten(name), "unknown query parameter %s; fields belong in the body",
				serving.Shown(name))
		}
	}
	return nil
}

// read reads the fields of a request. What it returns may hold uploads, which Generate takes over or
// the caller discards. Only an edit takes a form, or images in JSON.
func (a *api) read(x *exchange, edit bool) (*request, error) {
	contentType := x.Request.Header.Get("Content-Type")
	switch mediaType, _, _ := mime.ParseMediaType(contentType); {
	case mediaType == "application/json":
		return a.readJSON(x, edit)
	case !edit && mediaType == "multipart/form-data":
		return nil, imagegen.Invalid("the Content-Type must be application/json; a form belongs to %s", pathEdit)
	case !edit:
		return nil, imagegen.Invalid("the Content-Type must be application/json; got %s", serving.Shown(contentType))
	case mediaType != "multipart/form-data":
		return nil, imagegen.Invalid("the Content-Type must be multipart/form-data or application/json; got %s",
			serving.Shown(contentType))
	}
	return a.readForm(x)
}

// readForm reads a form part by part. Files go to the spool as they arrive; on an error
// they are discarded.
func (a *api) readForm(x *exchange) (*request, error) {
	r := newRequest()
	held := a.site.Limits.Hold(x.Payer)
	defer held.Release()
	form := &serving.Form{Stage: x.stager(fieldImage), Hold: held, Room: r.room, SetText: r.setText,
		IsFile: func(name string) bool { return name == fieldMask || name == fieldImage || name == fieldImage+"[]" },
		Known:  func(name string) error { _, err := newRequest().findInForm(name); return err },
	}
	if err := form.Read(&x.Exchange); err != nil {
		return nil, err
	}
	for _, f := range form.Files {
		if f.Name == fieldMask {
			r.Mask = f.Reference
		} else {
			r.References = append(r.References, f.Reference)
		}
	}
	return r, nil
}

// room refuses one file too many: a second mask, or an image beyond the most that any model takes.
func (r *request) room(name, which string) error {
	if name == fieldMask {
		return r.once(fieldMask)
	}
	if r.images++; r.images <= imagegen.MaxReferences {
		return nil
	}
	return imagegen.InvalidField(fieldImage, "%s is one too many: send at most %d images", which,
		imagegen.MaxReferences)
}

// readJSON reads a body as it arrives. Images in it go to the spool without being held in
// memory.
func (a *api) readJSON(x *exchange, edit bool) (*request, error) {
	most := int64(maxText)
	if edit {
		most = maxJSON
	}
	body, err := x.Body(most)
	if e, ok := errors.AsType[*imagegen.Error](err); ok && !edit && e.Code == imagegen.CodeInvalidRequest {
		return nil, imagegen.Invalid("%s; images belong to %s", e.Message, pathEdit) // the body is too large
	}
	if err != nil {
		return nil, err
	}
	held := a.site.Limits.Hold(x.Payer)
	defer held.Release()
	j := &jsonRequest{request: newRequest(), exchange: x, scan: jsonscan.New(body, keeping(held))}
	if err := j.read(edit); err != nil {
		j.discard()
		return nil, serving.BodyError(err)
	}
	return j.request, nil
}

// keeping returns a function that counts what stays in memory of a body: against maxText and, through
// held, against the limits of the key and of all keys.
func keeping(held *serving.Holding) func(int64) error {
	left := int64(maxText)
	return func(n int64) error {
		if left -= n; left < 0 {
			return imagegen.Invalid("the names and values of the request, without its images, are larger than %d bytes",
				maxText)
		}
		return held.Take(n)
	}
}

// jsonRequest is a request on its way out of a JSON body. Images are staged as soon as they come, so a
// body that fails later leaves uploads, which its discard removes.
type jsonRequest struct {
	*request
	exchange *exchange
	scan     *jsonscan.Scanner
}

func (j *jsonRequest) read(edit bool) error {
	err := j.scan.Object(func(name string) error {
		switch {
		case edit && name == fieldImages:
			return j.readImages()
		case edit && name == fieldMask:
			return j.readMask()
		case edit && name == fieldImage:
			return j.readFormImage()
		}
		v, err := j.scan.Value()
		if err != nil {
			return err
		}
		return j.setJSON(name, v)
	})
	if err != nil {
		return err
	}
	return j.scan.End()
}

// readMask reads the field mask: an object with an image, or null.
func (j *jsonRequest) readMask() error {
	if err := j.once(fieldMask); err != nil {
		return err
	}
	there, err := j.compound(fieldMask, `an object such as {"image_url": "data:image/png;base64,…"}`)
	if !there || err != nil {
		return err
	}
	u, err := j.readImage(fieldMask, fieldMask)
	if err == nil {
		j.Mask = u
	}
	return err
}

// readFormImage reads a field that forms have in place of images: only null is taken.
func (j *jsonRequest) readFormImage() error {
	switch kind, err := j.scan.Kind(); {
	case err != nil:
		return err
	case kind == jsonscan.Text || kind == jsonscan.Compound:
		return invalid(fieldImage, "is a file of a form; in JSON, send images, %s", someImages)
	}
	v, err := j.scan.Value()
	if err != nil {
		return err
	}
	return j.setJSON(fieldImage, v)
}

// compound reports whether an object or array comes next, which it leaves to the caller to read. It
// reads null, and refuses anything else: text before it is read, since it may be an image.
func (j *jsonRequest) compound(field, what string) (bool, error) {
	if kind, err := j.scan.Kind(); err == nil && kind == jsonscan.Text {
		return false, invalid(field, "must be %s; got %s", what, kind)
	}
	v, err := j.scan.Value()
	if err == nil && v.Kind != jsonscan.Compound && v.Kind != jsonscan.Null {
		err = invalid(field, "must be %s; got %s", what, v.Kind)
	}
	return v.Kind == jsonscan.Compound, err
}

const someImages = `an array such as [{"image_url": "data:image/png;base64,…"}]`

// readImages reads the field images: an array of objects with one image each, or null.
func (j *jsonRequest) readImages() error {
	if err := j.once(fieldImages); err != nil {
		return err
	}
	there, err := j.compound(fieldImages, someImages)
	if !there || err != nil {
		return err
	}
	return j.scan.Array(func() error {
		which := fmt.Sprintf("images %d", len(j.References)+1)
		if err := j.room(fieldImages, which); err != nil {
			return err
		}
		u, err := j.readImage(fieldImages, which)
		if err == nil {
			j.References = append(j.References, u)
		}
		return err
	})
}
