package openai

import (
	"net/http"
	"slices"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi/internal/serving"
)

// errorBody is the body of every answer that is an error, and part of the event that is one.
type errorBody struct {
	Error failure `json:"error"`
}

// failure is the error object. Clients expect all four members: Param is null if no field is at fault,
// and Code is one of this service.
type failure struct {
	Message string        `json:"message"`
	Type    string        `json:"type"`
	Param   *string       `json:"param"`
	Code    imagegen.Code `json:"code"`
}

// fail answers with an error, before anything else was written. See statusOf for the status of a
// lasting one; any other keeps that of the native interface.
func (x *exchange) fail(err error) {
	x.Fail(err, func(e *imagegen.Error, status int) (int, any) {
		if e.Lasting {
			status = statusOf(e)
		}
		return status, errorOf(e, status)
	})
}

// statusOf is the status of an error in OpenAI's shape. OpenAI's clients, and others, repeat every 5xx
// of their own accord. So a failure that the same request would meet again is 400.
func statusOf(e *imagegen.Error) int {
	if e.Lasting {
		return http.StatusBadRequest
	}
	return serving.StatusOf(e)
}

func errorOf(e *imagegen.Error, status int) errorBody {
	f := failure{Message: e.Message, Type: kind(status), Code: e.Code}
	if p := param(e); p != "" {
		f.Param = &p
	}
	return errorBody{f}
}

// kind is what OpenAI calls the errors of a status.
func kind(status int) string {
	switch {
	case status >= http.StatusInternalServerError:
		return "server_error"
	case status == http.StatusUnauthorized:
		return "authentication_error"
	case status == http.StatusPaymentRequired:
		return "insufficient_quota"
	case status == http.StatusForbidden:
		return "permission_error"
	case status == http.StatusTooManyRequests:
		return "rate_limit_error"
	}
	return "invalid_request_error"
}

// param is the field at fault; "" if it is not known. An error without a Field may still be about one:
// the messages of this service begin with the name of the field then.
func param(e *imagegen.Error) string {
	if e.Field != "" || e.Code != imagegen.CodeInvalidRequest {
		return e.Field
	}
	if first, _, _ := strings.Cut(e.Message, " "); slices.Contains(fieldNames(), first) {
		return first
	}
	return ""
}
