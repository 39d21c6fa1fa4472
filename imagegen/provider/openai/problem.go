package openai

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// problem is the error object of an answer. The zero value is none.
type problem struct{ Message, Type, Code string }

// moderation are the codes of OpenAI and of Azure for a request that moderation refused. The message does not count:
// it also speaks of policy if the account was blocked.
var moderation = []string{"moderation_blocked", "content_policy_violation", "content_filter", "contentFilter"}

// unusable maps the codes of problems that only an operator can solve, whatever the status, to
// a message: problems of the key, the model and the account. Newer codes for an account have
// insufficient_quota as their type, so types are looked up too.
var unusable = map[string]string{
	"invalid_api_key":            badKey,
	"model_not_found":            noModel,
	"DeploymentNotFound":         noModel,
	"insufficient_quota":         noMoney,
	"billing_hard_limit_reached": noMoney,
	"billing_not_active":         noMoney,
}

const (
	badKey  = "the upstream refused the API key"
	noModel = "the upstream does not know the model, or not for this account; was it retired?"
	noMoney = "the upstream account has used up its quota, or reached its limit"
)

// asError is the error that a problem means by itself, whatever the status it came with. It is of ClassUnknown if
// only the status can tell more.
func (p problem) asError() *imagegen.ProviderError {
	e := &imagegen.ProviderError{Message: "the upstream answered with an error",
		Err: errors.New(upstream.Excerpt(fmt.Appendf(nil, "%s (type %q, code %q)", p.Message, p.Type, p.Code)))}
	switch message := cmp.Or(unusable[p.Code], unusable[p.Type]); {
	case slices.Contains(moderation, p.Code):
		e.Class, e.Message = imagegen.ClassRefused, "the upstream's moderation refused the request"
	case message != "":
		e.Class, e.Message = imagegen.ClassBlocked, message
	}
	return e
}

// classify returns the Options.Classify of the client. A body without an error object may come from a proxy, and the
// status decides. Only OpenAI itself promises that a request with the status 503 was not processed.
func (c Config) classify() func(upstream.Failure) *imagegen.ProviderError {
	official := upstream.OnHost(c.BaseURL, officialHost)
	return func(f upstream.Failure) *imagegen.ProviderError {
		p, ok := parse(f.Body)
		if !ok {
			return nil
		}
		e := f.Error()
		if own := p.asError(); own.Class != imagegen.ClassUnknown {
			return own
		}
		if official && f.Status == http.StatusServiceUnavailable {
			e.Class = imagegen.ClassUnavailable
			e.RetryAfter = upstream.RetryAfter(f.Header)
		}
		if f.Header.Get("X-Should-Retry") == "false" && e.Class.Transient() {
			e.Class, e.Message, e.RetryAfter = imagegen.ClassBlocked,
				"the upstream says that asking again is of no use", 0
		}
		return e
	}
}

// parse reads the body of an error; false if it has no error object. The code may be null, or a number.
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
