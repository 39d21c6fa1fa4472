package upstreamtest

import (
	"encoding/json"
	"net/http"
)

// Decode reads the body of a request into v, and refuses what v has no field for: what an upstream would drop was
// asked for in vain.
func Decode(r *http.Request, v any) error {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	return d.Decode(v)
}
