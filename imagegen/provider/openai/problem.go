package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// problem is an error as the upstream words it.
type problem struct{ Message, Type, Code string }

// moderation are the codes of OpenAI and of Azure for what their moderation refused. The message is
// not looked at: an account that was blocked is told of policy, too.
var moderation = []string{"moderation_blocked", "content_policy_violation", "content_filter", "contentFilter"}

// unpaid are the codes for an account that has used up what it paid for.
var unpaid = []string{"insufficient_quota", "billing_hard_limit_reached"}

// asError is what an error means, whatever the status it came with.
func (p problem) asError() *imagegen.ProviderError {
	e := &imagegen.ProviderError{Message: "the upstream answered with an error",
		Err: errors.New(upstream.Excerpt(fmt.Appendf(nil, "%s (type %q, code %q)", p.Message, p.Type, p.Code)))}
	switch {
	case slices.Contains(moderation, p.Code):
		e.Class, e.Message = imagegen.ClassRefused, "the upstream's moderation refused the request"
	case slices.Contains(unpaid, p.Code):
		e.Message = "the upstream account has used up its quota"
	}
	return e
}

func (c Config) classify() func(upstream.Failure) *imagegen.ProviderError {
	official := upstream.OnHost(c.BaseURL, officialHost)
	return func(f upstream.Failure) *imagegen.ProviderError {
		p, ok := parse(f.Body)
		if !ok {
			return nil
		}
		if slices.Contains(moderation, p.Code) || slices.Contains(unpaid, p.Code) {
			return p.asError()
		}
		e := f.Error()
		if official && f.Status == http.StatusServiceUnavailable {
			e.Class = imagegen.ClassUnavailable
			e.RetryAfter = upstream.RetryAfter(f.Header)
		}
		return e
	}
}

// parse reads an error body. Its code may be null or a number.
func parse(body []byte) (problem, bool) {
	var b struct {
		Error *struct {
			Message, Type string
			Code          any
		}
	}
	if err := json.Unmarshal(body, &b); err != nil || b.Error == nil {
		return problem{}, false
	}
	p := problem{Message: b.Error.Message, Type: b.Error.Type}
	if b.Error.Code != nil {
		p.Code = fmt.Sprint(b.Error.Code)
	}
	return p, true
}
