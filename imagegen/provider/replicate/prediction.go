package replicate

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/task"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// prediction is the upstream's answer about a prediction.
type prediction struct {
	Status  string
	Output  json.RawMessage // as the model defines it, see addresses
	Error   any             // usually a text
	URLs    struct{ Get, Cancel string }
	Metrics json.RawMessage // see used
}

// used is the time for which the model has run, also if it failed or was cancelled
// (replicate.com/docs/topics/predictions).
func (p prediction) used() imagegen.UpstreamUsage {
	var m struct {
		PredictTime json.RawMessage `json:"predict_time"`
	}
	_ = json.Unmarshal(p.Metrics, &m) // what is of another form says nothing
	return imagegen.UpstreamUsage{Time: upstream.Seconds(string(m.PredictTime))}
}

// progress is what the status means. A failure is of ClassUnknown, since the prediction may have cost, unless its
// words or the status say more. The error that is returned means that there is no status.
func (p prediction) progress() (task.Progress, error) {
	e := &imagegen.ProviderError{Err: errors.New(upstream.Excerpt(fmt.Appendf(nil, "the prediction has %s: %v",
		p.Status, p.Error)))}
	switch p.Status {
	case "succeeded":
		images, err := addresses(p.Output)
		if err == nil {
			return task.Progress{Done: true, Images: images, Used: p.used()}, nil
		}
		e.Message, e.Err = "the output holds no image", err
	case "failed":
		e.Message = "the model failed to make the image"
		if refused(fmt.Sprint(p.Error)) {
			e.Class, e.Message = imagegen.ClassRefused, "the model's moderation refused the request"
		}
	case "canceled":
		e.Message = "the prediction was cancelled at the upstream"
	case "aborted":
		e.Class, e.Message = imagegen.ClassUnavailable, "the upstream gave up before the prediction began to run"
	case "":
		return task.Progress{}, errors.New("it names no status")
	default: // starting, processing
		return task.Progress{}, nil
	}
	return task.Progress{Done: true, Err: e, Used: p.used()}, nil
}

// addresses reads the output of a model: one address, a list, or an object with either, in any depth. An output without
// any is an error; some models answer with an empty list when they refuse a request.
func addresses(output json.RawMessage) ([]string, error) {
	var v any
	if json.Unmarshal(output, &v) == nil {
		if found := addressesIn(v); len(found) > 0 {
			return found, nil
		}
	}
	return nil, fmt.Errorf("the output is %s", upstream.Excerpt(output))
}

// addressesIn returns the addresses in a value. Of an object in which several fields have some, it returns none: they
// may be masks or sources, and nothing says which the image is.
func addressesIn(v any) (found []string) {
	switch v := v.(type) {
	case string:
		if isAddress.MatchString(v) {
			return []string{v}
		}
	case []any:
		for _, element := range v {
			found = append(found, addressesIn(element)...)
		}
	case map[string]any:
		for _, field := range v {
			of := addressesIn(field)
			if len(of) > 0 && len(found) > 0 {
				return nil
			}
			found = append(found, of...)
		}
	}
	return found
}

var isAddress = regexp.MustCompile(`^(?i:https?:|data:|/)`)

// refusals are words, in lower case, by which an error is known to come from moderation: there is no code for it.
var refusals = []string{"nsfw", "flagged as sensitive", "(e005)", "safety system", "content policy", "moderat"}

func refused(message string) bool {
	message = strings.ToLower(message)
	return slices.ContainsFunc(refusals, func(words string) bool { return strings.Contains(message, words) })
}
