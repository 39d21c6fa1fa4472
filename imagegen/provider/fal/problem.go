package fal

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// unitsHeader says how many billable units a request has used, also one that ended with an error (fal-ai/fal-js,
// libs/client/src/response.ts).
const unitsHeader = "X-Fal-Billable-Units"

// unstarted are the platform's errors for requests on which no runner has begun to work.
var unstarted = []string{"runner_scheduling_failure", "runner_connection_refused", "startup_timeout"}

// refusals are the models' errors for what they will not draw.
var refusals = []string{"content_policy_violation"}

// locked is how the text of a 403 begins for an account without a balance, or one that fal has blocked: "User is
// locked. Reason: Exhausted balance. …" (fal-ai/fal, issues 1112 and 1162).
const locked = "User is locked"

func isLocked(f upstream.Failure) bool {
	return f.Status == http.StatusForbidden && strings.Contains(string(f.Body), locked)
}

// classify reads the errors that fal documents. For any other, the status decides.
func classify(f upstream.Failure) *imagegen.ProviderError {
	e, kind := f.Error(), kindOf(f)
	if isLocked(f) {
		e.Message = "the upstream has locked the account; is its balance exhausted?"
	}
	if kind == "" {
		return e
	}
	e.Err = fmt.Errorf("%w (%s)", e.Err, kind)
	switch {
	case slices.Contains(refusals, kind):
		e.Class, e.Message = imagegen.ClassRefused, "the model's moderation refused the request"
	case slices.Contains(unstarted, kind):
		e.Class, e.Message = imagegen.ClassUnavailable, "the upstream had no runner for the request"
	}
	return e
}

// kindOf returns the type of an error with which a request has ended, as the model or the platform says, such as
// request_timeout. Of several details a refusal counts, else the first. "": the request may go on, as after the error
// page of a proxy in between, or after a 429, which limits who asks.
func kindOf(f upstream.Failure) string {
	if isLocked(f) || f.Status == http.StatusTooManyRequests {
		return ""
	}
	var platform struct {
		ErrorType string `json:"error_type"`
	}
	var model struct{ Detail []struct{ Type string } }
	_ = json.Unmarshal(f.Body, &platform) // what is of another form has no type
	if json.Unmarshal(f.Body, &model) == nil {
		for _, d := range model.Detail {
			if slices.Contains(refusals, d.Type) {
				return d.Type
			}
		}
		if len(model.Detail) > 0 {
			return cmp.Or(model.Detail[0].Type, "error")
		}
	}
	return cmp.Or(platform.ErrorType, f.Header.Get("X-Fal-Error-Type"))
}
