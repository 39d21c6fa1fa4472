package httpapi

import (
	"errors"
	"mime"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi/internal/jsonscan"
	"github.com/imagegend/imagegend/imagegen/httpapi/internal/serving"
)

const maxJSON = 1 << 20

// readRequest reads the fields of a request for images, in either encoding. What it returns may
// hold uploads, which Generate takes over.
func (a *api) readRequest(x *exchange) (imagegen.GenerateRequest, error) {
	mediaType, parameters, err := mime.ParseMediaType(x.Request.Header.Get("Content-Type"))
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) {
		mediaType = ""
	}
	switch mediaType {
	case "application/json":
		return a.readJSON(x, (*form).setJSON)
	case "multipart/form-data":
		if boundary := parameters["boundary"]; err == nil && boundary != "" {
			return a.readMultipart(x, boundary)
		}
		return imagegen.GenerateRequest{}, imagegen.Invalid("the Content-Type multipart/form-data has no boundary")
	}
	return imagegen.GenerateRequest{}, imagegen.Invalid("the Content-Type must be application/json or multipart/form-data; got %s",
		serving.Shown(x.Request.Header.Get("Content-Type")))
}

// readJSON reads an object, of which set takes each member.
func (a *api) readJSON(x *exchange, set func(*form, string, jsonscan.Value) error) (imagegen.GenerateRequest, error) {
	body, err := x.Body(maxJSON)
	if err != nil {
		return imagegen.GenerateRequest{}, err
	}
	held := a.site.Limits.Hold(x.session.KeyID())
	defer held.Release()
	b, err := held.ReadAll(body)
	if err != nil {
		return imagegen.GenerateRequest{}, serving.BodyError(err)
	}
	f := newForm()
	err = jsonscan.Object(b, func(name string, v jsonscan.Value) error { return set(&f, name, v) })
	return f.request, err
}
