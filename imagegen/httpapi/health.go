package httpapi

import (
	"net/http"
	"time"
)

// readyAfter is when to ask again whether the service is ready.
const readyAfter = 5 * time.Second

type status struct {
	Status string `json:"status"`
}

func (a *api) healthy(x *exchange) error { return x.json(http.StatusOK, status{"ok"}) }

type readiness struct {
	Ready bool `json:"ready"`
}

// ready tells no more: the reasons are the operator's, and warnings change nothing.
func (a *api) ready(x *exchange) error {
	if a.engine.Ready(x.ctx) == nil {
		return x.json(http.StatusOK, readiness{true})
	}
	x.set("Retry-After", seconds(readyAfter))
	return x.json(http.StatusServiceUnavailable, readiness{})
}
