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

// Answer sends v as JSON.
func Answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}
