package httpapi

import (
	"net/http"
	"time"

	"github.com/imagegend/imagegend/imagegen/httpapi/internal/serving"
)

// readyAfter is the Retry-After of a service that is not ready.
const readyAfter = 5 * time.Second

// healthy answers as long as the process serves requests: a process that cannot take work must not be
// restarted for it.
func (a *api) healthy(x *exchange) error {
	return x.JSON(http.StatusOK, map[string]string{"status": "ok"})
}

// ready answers whether the engine takes work, and no more: the reasons are the operator's, and
// warnings change nothing.
func (a *api) ready(x *exchange) error {
	if a.engine.Ready(x.Ctx) == nil {
		return x.JSON(http.StatusOK, map[string]bool{"ready": true})
	}
	x.Header().Set("Retry-After", serving.Seconds(readyAfter))
	return x.JSON(http.StatusServiceUnavailable, map[string]bool{"ready": false})
}
