package sdwebui

import (
	"encoding/json"
	"net/http"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// classify adds to the meaning of the status what the web UI itself says. A 500 with an exception in it comes from
// the web UI, which has drawn nothing; any other 500 may come from a proxy.
func classify(f upstream.Failure) *imagegen.ProviderError {
	e := f.Error()
	var said struct{ Error, Detail any }
	json.Unmarshal(f.Body, &said) // a proxy's page says nothing
	switch exception, _ := said.Error.(string); {
	case f.Status == http.StatusUnauthorized:
		e.Message = "the web UI refused the user name or the password"
	case f.Status == http.StatusNotFound && said.Detail == "Not Found":
		e.Message = "the web UI has no API; start it with --api"
	case f.Status == http.StatusInternalServerError && exception != "":
		e.Class, e.Message = imagegen.ClassUnavailable, "the web UI failed to draw"
	}
	return e
}
