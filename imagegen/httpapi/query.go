package httpapi

import (
	"net/url"
	"strconv"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi/internal/serving"
)

var queryNames = []string{"limit", "after", "status"}

// parseQuery reads the query of the list. Unknown, repeated and empty parameters are refused, as
// unknown fields of a body are. The engine checks after and status.
func parseQuery(raw string) (q imagegen.Query, err error) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return q, imagegen.Invalid("the query is malformed: %v", err)
	}
	for name, sent := range values {
		if len(sent) > 1 {
			return q, imagegen.Invalid("query parameter %s was sent twice", serving.Shown(name))
		}
		if err := setQuery(&q, name, sent[0]); err != nil {
			return q, err
		}
	}
	return q, nil
}

func setQuery(q *imagegen.Query, name, v string) (err error) {
	if v == "" {
		return imagegen.Invalid("query parameter %s has no value", serving.Shown(name))
	}
	switch name {
	case "limit":
		if q.Limit, err = strconv.Atoi(v); err != nil || !serving.IsInteger(v) || q.Limit < 1 || q.Limit > imagegen.MaxPageSize {
			return imagegen.Invalid("limit must be from 1 to %d; got %s", imagegen.MaxPageSize, serving.Shown(v))
		}
	case "after":
		q.After = imagegen.GenerationID(v)
	case "status":
		q.Status = imagegen.Status(v)
	default:
		return imagegen.Invalid("unknown query parameter %s; the nearest known one is %s", serving.Shown(name), nearestField(name, queryNames))
	}
	return nil
}
