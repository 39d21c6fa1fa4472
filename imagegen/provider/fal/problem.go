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

// problem is how a request has ended, in the words of the model or of the platform. What came
// between, a proxy's error page, is none.
type problem struct {
	kind  string // content_policy_violation, request_timeout and the like
	cause error
}

func (p *problem) Error() string { return fmt.Sprintf("%v (%s)", p.cause, p.kind) }

func (p *problem) Unwrap() error { return p.cause }

// unstarted are the platform's errors for requests that no runner has begun with.
var unstarted = []string{"runner_scheduling_failure", "runner_connection_refused", "startup_timeout"}

// refusals are the models' errors for what they will not draw.
var refusals = []string{"content_policy_violation"}

// locked begins what fal says to an account without a balance, or one that it has blocked: 403,
// "User is locked. Reason: Exhausted balance. …" (fal-ai/fal, issues 1112 and 1162).
const locked = "User is locked"

// classify reads the errors that fal documents. The rest is what its status says; 429 is for whoever
// asks, not for what is asked about.
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
	e.Err = &problem{kind, e.Err}
	switch {
	case slices.Contains(refusals, kind):
		e.Class, e.Message = imagegen.ClassRefused, "the model's moderation refused the request"
	case slices.Contains(unstarted, kind):
		e.Class, e.Message = imagegen.ClassUnavailable, "the upstream had no runner for the request"
	}
	return e
}

// kindOf is the type of a documented error; "" if it is none.
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
