package httpapi

import (
	"net/http"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// readyAfter is when to ask again whether the service is ready.
const readyAfter = 5 * time.Second

type status struct {
	Status string `json:"status"`
}

func (a *api) healthy(x *exchange) error { return x.json(http.StatusOK, status{"ok"}) }

// ready keeps the reason, which is meant for operators, to the log.
func (a *api) ready(x *exchange) error {
	if err := a.engine.Ready(x.ctx); err != nil {
		return &imagegen.Error{Code: imagegen.CodeOverloaded, Message: "the service takes no work at the moment", RetryAfter: readyAfter, Err: err}
	}
	return x.json(http.StatusOK, status{"ready"})
}
