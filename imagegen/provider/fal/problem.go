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

// problem is the cause of an error with which a request has ended, as the model or the platform says. The error page
// of a proxy in between is not a problem in this sense: the request may go on.
type problem struct {
	kind  string // content_policy_violation, request_timeout and the like
	units imagegen.Micros
	cause error
}

// unitsHeader says how many billable units a request has used, also one that ended with an error (fal-ai/fal-js,
// libs/client/src/response.ts).
const unitsHeader = "X-Fal-Billable-Units"

func (p *problem) Error() string { return fmt.Sprintf("%v (%s)", p.cause, p.kind) }

func (p *problem) Unwrap() error { return p.cause }

// unstarted are the platform's errors for requests on which no runner has begun to work.
var unstarted = []string{"runner_scheduling_failure", "runner_connection_refused", "startup_timeout"}

// refusals are the models' errors for what they will not draw.
var refusals = []string{"content_policy_violation"}

// locked is how the text of a 403 begins for an account without a balance, or one that fal has blocked: "User is
// locked. Reason: Exhausted balance. …" (fal-ai/fal, issues 1112 and 1162).
const locked = "User is locked"

// classify reads the errors that fal documents. For any other, the status decides; also for a 429, which limits who
// asks and does not say how the request has ended.
func classify(f upstream.Failure) *imagegen.ProviderError {
	kind := kindOf(f)
	if f.Status == http.StatusForbidden && strings.Contains(string(f.Body), locked) {
		e := f.Error()
		e.Message = "the upstream has locked the account; is its balance exhausted?"
		return e
	}
	if kind == "" || f.Status == http.StatusTooManyRequests {
		return nil
	}
	e := f.Error()
	e.Err = &problem{kind, upstream.Micros(f.Header.Get(unitsHeader)), e.Err}
	switch {
	case slices.Contains(refusals, kind):
		e.Class, e.Message = imagegen.ClassRefused, "the model's moderation refused the request"
	case slices.Contains(unstarted, kind):
		e.Class, e.Message = imagegen.ClassUnavailable, "the upstream had no runner for the request"
	}
	return e
}

// kindOf returns the type of a documented error; "" if it is none. Of several details a refusal
// counts, else the first.
func kindOf(f upstream.Failure) string {
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
