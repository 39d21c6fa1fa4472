package httpapi

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi/internal/serving"
)

var queryNames = []string{"limit", "after", "status"}

// parseQuery reads the query of the list. The engine checks after and status.
func parseQuery(raw string) (q imagegen.Query, err error) {
	err = eachParameter(raw, queryNames, func(name, v string) (err error) {
		switch name {
		case "limit":
			if q.Limit, err = strconv.Atoi(v); err != nil || !serving.IsInteger(v) || q.Limit < 1 ||
				q.Limit > imagegen.MaxPageSize {
				return imagegen.Invalid("limit must be from 1 to %d; got %s", imagegen.MaxPageSize, serving.Shown(v))
			}
		case "after":
			q.After = imagegen.GenerationID(v)
		case "status":
			q.Status = imagegen.Status(v)
		}
		return nil
	})
	return q, err
}

// eachParameter calls set for each parameter of a query. Unknown, repeated and empty parameters are
// refused, as unknown fields of a body are.
func eachParameter(raw string, known []string, set func(name, v string) error) error {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return imagegen.Invalid("the query is malformed: %v", err)
	}
	for name, sent := range values {
		switch {
		case len(sent) > 1:
			err = imagegen.Invalid("query parameter %s was sent twice", serving.Shown(name))
		case sent[0] == "":
			err = imagegen.Invalid("query parameter %s has no value", serving.Shown(name))
		case !slices.Contains(known, name):
			err = imagegen.Invalid("unknown query parameter %s; known are %s", serving.Unknown(name, known),
				strings.Join(known, ", "))
		default:
			err = set(name, sent[0])
		}
		if err != nil {
			return err
		}
	}
	return nil
}
