package httpapi

import (
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi/internal/serving"
	"github.com/imagegend/imagegend/imagegen/internal/wire"
)

// errPreconditionFailed answers If-Match and If-Unmodified-Since, on the list of models and on images.
var errPreconditionFailed = &imagegen.Error{Code: serving.CodePreconditionFailed,
	Message: "the current version does not match If-Match or If-Unmodified-Since; leave the header out to read it"}

// fail answers with an error. It is the only place that does, and must be called before anything
// was written. The error itself goes to the log; the caller sees only its code and message.
func (x *exchange) fail(err error) {
	x.Fail(err, func(e *imagegen.Error, status int) (int, any) {
		// two strings always encode
		return status, wire.ErrorBody{Error: wire.Failure{Message: e.Message, Code: e.Code}}
	})
}
