package upstreamtest

import (
	"encoding/json"
	"net/http"
)

// Decode reads the body of a request into v. A field that v does not have is an error, even if the upstream itself
// would ignore it: a provider that sends it makes a mistake.
func Decode(r *http.Request, v any) error {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	return d.Decode(v)
}
