package httpapi

import (
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi/internal/serving"
	"github.com/imagegend/imagegend/imagegen/internal/wire"
)

var errPreconditionFailed = &imagegen.Error{Code: serving.CodePreconditionFailed,
	Message: "what is here is not what If-Match or If-Unmodified-Since asks for; leave the header out to read it"}

// fail answers with an error. It is the only place that does.
func (x *exchange) fail(err error) {
	x.Fail(err, func(e *imagegen.Error, status int) (int, any) {
		return status, wire.ErrorBody{Error: wire.Failure{Message: e.Message, Code: e.Code}} // two strings always encode
	})
}
