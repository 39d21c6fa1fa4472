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

// unusable are the codes of what an operator must see to, whatever the status: of the key, of the
// model, and of the account. New codes of the account have insufficient_quota as their type.
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

func (p problem) unusable() (message string, ok bool) {
	if message, ok = unusable[p.Code]; !ok {
		message, ok = unusable[p.Type]
	}
	return message, ok
}

// asError is what an error means, whatever the status it came with.
func (p problem) asError() *imagegen.ProviderError {
	e := &imagegen.ProviderError{Message: "the upstream answered with an error",
		Err: errors.New(upstream.Excerpt(fmt.Appendf(nil, "%s (type %q, code %q)", p.Message, p.Type, p.Code)))}
	switch {
	case slices.Contains(moderation, p.Code):
		e.Class, e.Message = imagegen.ClassRefused, "the upstream's moderation refused the request"
	default:
		if message, ok := p.unusable(); ok {
			e.Class, e.Message = imagegen.ClassUnusable, message
		}
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
		e := f.Error()
		if own := p.asError(); own.Class != imagegen.ClassUnknown {
			return own
		}
		if official && f.Status == http.StatusServiceUnavailable {
			e.Class = imagegen.ClassUnavailable
			e.RetryAfter = upstream.RetryAfter(f.Header)
		}
		if f.Header.Get("X-Should-Retry") == "false" && e.Class.Transient() {
			e.Class, e.Message, e.RetryAfter = imagegen.ClassUnusable, "the upstream says that asking again is of no use", 0
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
