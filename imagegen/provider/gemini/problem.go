package gemini

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// problem is an error of the API: a google.rpc.Status with details (googleapis/googleapis,
// google/rpc/error_details.proto).
type problem struct {
	Status  string // the name of a google.rpc.Code
	Details []struct {
		Reason     string // of google.rpc.ErrorInfo
		RetryDelay string // of google.rpc.RetryInfo, such as 34.5s
	}
}

// reason reports whether a detail has that reason.
func (p problem) reason(r string) bool {
	for _, d := range p.Details {
		if d.Reason == r {
			return true
		}
	}
	return false
}

// retryDelay is how long to wait before another attempt; 0 if no detail says so.
func (p problem) retryDelay() (longest time.Duration) {
	for _, d := range p.Details {
		if delay, err := time.ParseDuration(d.RetryDelay); err == nil {
			longest = max(longest, delay)
		}
	}
	return longest
}

// classify returns the Options.Classify of the client: what an error of the API means where its
// body says more than its status. An answer without such a body may come from a proxy, and the
// status decides. What is billed is known of the official API only.
func (c Config) classify() func(upstream.Failure) *imagegen.ProviderError {
	official := upstream.OnHost(c.BaseURL, officialHost)
	return func(f upstream.Failure) *imagegen.ProviderError {
		var b struct{ Error *problem }
		if err := json.Unmarshal(f.Body, &b); err != nil || b.Error == nil {
			return nil
		}
		e := f.Error()
		switch {
		case b.Error.reason("API_KEY_INVALID"):
			e.Class, e.Message = imagegen.ClassBlocked, "the upstream refused the API key"
		case b.Error.Status == "FAILED_PRECONDITION":
			e.Class, e.Message = imagegen.ClassBlocked,
				"the upstream account is not set up for this; is billing enabled?"
		case e.Class == imagegen.ClassRateLimited:
			e.RetryAfter = max(e.RetryAfter, b.Error.retryDelay())
		case official && (f.Status == http.StatusInternalServerError || f.Status == http.StatusServiceUnavailable):
			e.Class = imagegen.ClassUnavailable // these are not billed
		}
		return e
	}
}
