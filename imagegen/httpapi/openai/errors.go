package openai

import (
	"net/http"
	"slices"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi/internal/serving"
)

// errorBody is the body of every answer that is an error, and the data of an event that is one.
type errorBody struct {
	Error failure `json:"error"`
}

type failure struct {
	Message string        `json:"message"`
	Type    string        `json:"type"`
	Param   *string       `json:"param"`
	Code    imagegen.Code `json:"code"`
}

// fail answers with an error. What the same request would meet again is 400: OpenAI's clients, and others, repeat every
// 5xx of their own accord.
func (x *exchange) fail(err error) {
	x.Fail(err, func(e *imagegen.Error, status int) (int, any) {
		if e.Lasting {
			status = statusOf(e)
		}
		return status, errorOf(e, status)
	})
}

// statusOf is the status of an error in OpenAI's shape. OpenAI's clients repeat every
// 5xx, so a lasting failure is 400.
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

// param is the field that is to blame. A provider's refusal names it at its beginning, if it does.
func param(e *imagegen.Error) string {
	if e.Field != "" || e.Code != imagegen.CodeInvalidRequest {
		return e.Field
	}
	if first, _, _ := strings.Cut(e.Message, " "); slices.Contains(fieldNames(), first) {
		return first
	}
	return ""
}
