package serving

import (
	"errors"
	"io"
	"net/http"
	"os"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/internal/formdata"
)

// Body returns the body of the request, limited in size and in patience.
func (x *Exchange) Body(most int64) (io.Reader, error) {
	if x.Request.ContentLength > most {
		return nil, tooLarge(most)
	}
	limited := http.MaxBytesReader(x.ResponseWriter, x.Request.Body, most)
	x.incoming = &formdata.Steady{Body: limited, Control: &x.control, Began: x.began}
	return x.incoming, nil
}

func tooLarge(most int64) error {
	return imagegen.Invalid("the request body is larger than %d bytes", most)
}

// BodyError says what was wrong with a body that could not be read. An *imagegen.Error stands.
func BodyError(err error) error {
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
