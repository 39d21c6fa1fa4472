package httpapi

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"os"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/internal/formdata"
)

const maxJSON = 1 << 20

// readRequest reads the fields of a request for images, in either encoding. What it returns may
// hold uploads, which Generate takes over.
func (a *api) readRequest(x *exchange) (imagegen.GenerateRequest, error) {
	mediaType, parameters, err := mime.ParseMediaType(x.request.Header.Get("Content-Type"))
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) {
		mediaType = ""
	}
	switch mediaType {
	case "application/json":
		return a.readJSON(x)
	case "multipart/form-data":
		if boundary := parameters["boundary"]; err == nil && boundary != "" {
			return a.readMultipart(x, boundary)
		}
		return imagegen.GenerateRequest{}, imagegen.Invalid("the Content-Type multipart/form-data has no boundary")
	}
	return imagegen.GenerateRequest{}, imagegen.Invalid("the Content-Type must be application/json or multipart/form-data; got %s",
		shown(x.request.Header.Get("Content-Type")))
}

func (a *api) readJSON(x *exchange) (imagegen.GenerateRequest, error) {
	body, err := x.body(maxJSON)
	if err != nil {
		return imagegen.GenerateRequest{}, err
	}
	held := a.intake.hold(x.session.KeyID())
	defer held.release()
	b, err := held.readAll(body)
	if err != nil {
		return imagegen.GenerateRequest{}, bodyError(err)
	}
	f := newForm()
	err = scanObject(b, f.setJSON)
	return f.request, err
}

// body returns the body of the request, limited in size and in patience.
func (x *exchange) body(most int64) (io.Reader, error) {
	if x.request.ContentLength > most {
		return nil, tooLarge(most)
	}
	limited := http.MaxBytesReader(x.ResponseWriter, x.request.Body, most)
	x.incoming = &formdata.Steady{Body: limited, Control: &x.control, Began: x.began}
	return x.incoming, nil
}

func tooLarge(most int64) error {
	return imagegen.Invalid("the request body is larger than %d bytes", most)
}

// bodyError says what was wrong with a body that could not be read. An *imagegen.Error stands.
func bodyError(err error) error {
	if _, coded := errors.AsType[*imagegen.Error](err); coded {
		return err
	}
	if e, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge(e.Limit)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return imagegen.Invalid("the request body came too slowly: it stalled for %v, fell below %d bytes a second or took more than %v",
			formdata.Patience, formdata.MinRate, formdata.MaxTime)
	}
	return &imagegen.Error{Code: imagegen.CodeInvalidRequest, Message: "the request body is malformed or ended early", Err: err}
}
